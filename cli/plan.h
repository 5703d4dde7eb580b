#pragma once

#include <CLI/CLI.hpp>

#include "cli/outcome.h"

namespace headsplit::cli {

/// `headsplit plan SWEEP`: the points of a sweep with their rank problems, without running it.
void add_plan(CLI::App& app, Outcome& outcome);

}  // namespace headsplit::cli
