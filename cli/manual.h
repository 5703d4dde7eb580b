#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/outcome.h"

namespace headsplit::cli {

/// The manual page (roff, section 1) of a program: its verbs and options as CLI11 knows them.
std::string manual_page(const CLI::App& app, const std::string& version);

/// `headsplit manual`: the page on stdout, for packages: headsplit manual > headsplit.1.
void add_manual(CLI::App& app, Outcome& outcome);

}  // namespace headsplit::cli
