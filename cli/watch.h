#pragma once

#include <CLI/CLI.hpp>

#include "cli/outcome.h"

namespace headsplit::cli {

/// `headsplit watch [SWEEP] --coordinator URL`: follow a sweep until it ends.
void add_watch(CLI::App& app, Outcome& outcome);

}  // namespace headsplit::cli
