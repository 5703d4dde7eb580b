#pragma once

#include <CLI/CLI.hpp>

#include "cli/outcome.h"

namespace headsplit::cli {

/// `headsplit submit SWEEP --coordinator URL`: hand a sweep to a running coordinator.
void add_submit(CLI::App& app, Outcome& outcome);

}  // namespace headsplit::cli
