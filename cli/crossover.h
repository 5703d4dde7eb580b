#pragma once

#include <CLI/CLI.hpp>

#include "cli/outcome.h"

namespace headsplit::cli {

/// `headsplit crossover`: where the kernels change places, by formula and by measured rows.
void add_crossover(CLI::App& app, Outcome& outcome);

}  // namespace headsplit::cli
