#pragma once

#include <CLI/CLI.hpp>

#include "cli/outcome.h"

namespace headsplit::cli {

/// `headsplit preflight`: what this machine has for runs, what is wrong, and what to do about it.
void add_preflight(CLI::App& app, Outcome& outcome);

}  // namespace headsplit::cli
