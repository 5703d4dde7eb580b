#pragma once

#include <CLI/CLI.hpp>

#include "cli/outcome.h"

namespace headsplit::cli {

/// `headsplit run SWEEP`: starts a coordinator and agents on this machine, runs the sweep, prints
/// the erosion table, and ends them.  The default way to use headsplit.
void add_run(CLI::App& app, Outcome& outcome);

}  // namespace headsplit::cli
