#pragma once

#include <ostream>
#include <span>

#include "core/row.h"

namespace headsplit::coordinator {

/// csv: a heading and one line a row (quotes as in RFC 4180, lines end with \n), every member of
/// Row a column; absent figures are empty, lists and maps are JSON in a cell.  jsonl: one JSON
/// object a line.
enum class ExportFormat { csv, jsonl };
BOOST_DESCRIBE_ENUM(ExportFormat, csv, jsonl)

/// Writes rows; the caller checks the stream.
void export_rows(std::ostream& out, std::span<const Row> rows, ExportFormat format);

}  // namespace headsplit::coordinator
