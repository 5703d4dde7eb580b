#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/outcome.h"

namespace headsplit::cli {

enum class Shell { bash, zsh, fish };

/// A script that makes the shell complete verbs and options of a program as CLI11 knows them; what
/// is neither is completed as a file name.
std::string completion_script(const CLI::App& app, Shell shell);

/// `headsplit completion SHELL`: the script on stdout.
void add_completion(CLI::App& app, Outcome& outcome);

}  // namespace headsplit::cli
