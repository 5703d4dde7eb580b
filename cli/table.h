#pragma once

#include <string>
#include <vector>

namespace headsplit::cli {

/// Aligned columns: the first row is the heading, underlined.  Cells that look like numbers are
/// set to the right.  Every row has as many cells as the heading.
std::string table_text(const std::vector<std::vector<std::string>>& rows);

/// "4.29 GB", "73.7 kB": decimal units, three figures.
std::string bytes_text(double bytes);

}  // namespace headsplit::cli
