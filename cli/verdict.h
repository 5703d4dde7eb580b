#pragma once

#include <CLI/CLI.hpp>

#include "cli/outcome.h"

namespace headsplit::cli {

/// `headsplit verdict --db FILE`: which claims of configs/claims.yaml the rows confirm or refute.
void add_verdict(CLI::App& app, Outcome& outcome);

}  // namespace headsplit::cli
