#pragma once

#include <CLI/CLI.hpp>

#include "cli/outcome.h"

namespace headsplit::cli {

/// `headsplit report --db FILE`: the sweeps of a database as one self-contained page, or as
/// markdown, JSON or CSV.
void add_report(CLI::App& app, Outcome& outcome);

}  // namespace headsplit::cli
