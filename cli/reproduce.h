#pragma once

#include <CLI/CLI.hpp>

#include "cli/outcome.h"

namespace headsplit::cli {

/// `headsplit reproduce ROW --db FILE`: the commands that measure the point of a row again.
void add_reproduce(CLI::App& app, Outcome& outcome);

}  // namespace headsplit::cli
