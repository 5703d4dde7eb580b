#pragma once

#include <CLI/CLI.hpp>

#include "cli/outcome.h"

namespace headsplit::cli {

/// `headsplit export --db FILE`: rows of a database as CSV or JSON lines on stdout.
void add_export(CLI::App& app, Outcome& outcome);

}  // namespace headsplit::cli
