#pragma once

#include <string>
#include <vector>

#include "core/row.h"

namespace headsplit::cli {

/// The ok rows of a database; empty path: none.  Fails: config (no such file, not a database).
Result<std::vector<Row>> measured_rows(const std::string& database);

}  // namespace headsplit::cli
