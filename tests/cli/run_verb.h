#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/outcome.h"

namespace headsplit::cli {

/// What a command line comes to: its exit code, stdout and stderr.
struct Answer {
  int code = 0;
  std::string out;
  std::string err;
};

/// Runs one verb in this process.  add_verb: as in the table of cli/main.cc.
Answer run_verb(void (*add_verb)(CLI::App&, Outcome&), const std::string& command_line);

}  // namespace headsplit::cli
