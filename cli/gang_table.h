#pragma once

#include <string>
#include <vector>

#include "core/row.h"

namespace headsplit::cli {

/// Real rows beside the emulated row of the same point, and how far apart they are: a line a point
/// that a gang ran.  Repeats are lines of their own.  Empty without such rows.
std::string gang_table(const std::vector<Row>& rows);

/// Rows of collectives: time and bandwidth by ranks and message.  Empty without such rows.
std::string collective_table(const std::vector<Row>& rows);

}  // namespace headsplit::cli
