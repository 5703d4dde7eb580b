#pragma once

#include <string>

#include "cli/report_value.h"

namespace headsplit::cli {

/// A report as CSV (RFC 4180, lines end with \n): the sweeps and summary tables in lines that begin
/// with `#`, then one line a layout of a problem, with the keys of the JSON as heading.
std::string report_csv(const Report& report);

}  // namespace headsplit::cli
