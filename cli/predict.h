#pragma once

#include <CLI/CLI.hpp>

#include "cli/outcome.h"

namespace headsplit::cli {

/// `headsplit predict`: what each layout costs on paper, without running anything.
void add_predict(CLI::App& app, Outcome& outcome);

}  // namespace headsplit::cli
