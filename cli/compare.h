#pragma once

#include <CLI/CLI.hpp>

#include "cli/outcome.h"

namespace headsplit::cli {

/// `headsplit compare --db A --db B`: whether B is slower than A, point by point.
void add_compare(CLI::App& app, Outcome& outcome);

}  // namespace headsplit::cli
