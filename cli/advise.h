#pragma once

#include <CLI/CLI.hpp>

#include "cli/outcome.h"

namespace headsplit::cli {

/// `headsplit advise`: layouts and kernels ranked for a model, a GPU and a load.
void add_advise(CLI::App& app, Outcome& outcome);

}  // namespace headsplit::cli
