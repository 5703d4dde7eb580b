#pragma once

#include <CLI/CLI.hpp>

#include "cli/outcome.h"

namespace headsplit::cli {

/// `headsplit status --coordinator URL`: sweeps and agents of a running coordinator.
void add_status(CLI::App& app, Outcome& outcome);

}  // namespace headsplit::cli
