#pragma once

#include <vector>

#include "core/exit_code.h"
#include "core/row.h"

namespace headsplit::cli {

/// Prints what a sweep showed on stdout: the erosion table and, where several structures of
/// attention were run, the table of their intensities; or the erosion table as JSON; what failed or
/// was skipped, and why, goes to stderr.  Gives `failed` when a point failed.
ExitCode print_result(const std::vector<Row>& rows, bool json);

}  // namespace headsplit::cli
