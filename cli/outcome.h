#pragma once

#include <string>

#include "core/exit_code.h"
#include "core/result.h"

namespace headsplit::cli {

/// What a verb came to; `main` returns its code.
struct Outcome {
  ExitCode code = ExitCode::ok;
};

/// Prints the error as one line on stderr and sets the code: `usage` for bad input (config), else
/// `failed`.
void report_error(const Error& error, Outcome& outcome);

}  // namespace headsplit::cli
