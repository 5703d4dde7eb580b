#pragma once

#include <string>
#include <vector>

#include "core/row.h"

namespace headsplit::coordinator {

/// Rows of a database, or of a .jsonl file as `headsplit export --format jsonl` writes it, which
/// may be compressed (.jsonl.gz).  sweep: name (or, in a database, plan id) of one sweep; empty:
/// all. Fails: config (cannot be read, a line is not a row: names file and line; no such sweep).
Result<std::vector<Row>> read_row_file(const std::string& path, const std::string& sweep = "");

/// Rows of several files, one after the other.  Fails: as read_row_file.
Result<std::vector<Row>> read_row_files(const std::vector<std::string>& paths,
                                        const std::string& sweep = "");

/// Whether read_row_file takes a path for a database; else for JSON lines (.jsonl, .ndjson, .gz).
bool is_database(const std::string& path);

}  // namespace headsplit::coordinator
