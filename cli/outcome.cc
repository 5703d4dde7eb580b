#include "cli/outcome.h"

#include <cstdio>

namespace headsplit::cli {

void report_error(const Error& error, Outcome& outcome) {
  std::fprintf(stderr, "headsplit: %s\n", error.message.c_str());
  outcome.code = error.kind == ErrorKind::config ? ExitCode::usage : ExitCode::failed;
}

}  // namespace headsplit::cli
