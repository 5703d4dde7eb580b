#pragma once

#include <string>
#include <vector>

#include "core/row.h"

namespace headsplit::coordinator {

/// Rows of a database, or of a .jsonl file as `headsplit export --format jsonl` writes it.
/// sweep: name (or, in a database, plan id) of one sweep; empty: all.
/// Fails: config (cannot be read, a line is not a row: names file and line; no such sweep).
Result<std::vector<Row>> read_row_file(const std::string& path, const std::string& sweep = "");

/// Whether read_row_file takes a path for a database; else for JSON lines (.jsonl, .ndjson).
bool is_database(const std::string& path);

}  // namespace headsplit::coordinator
