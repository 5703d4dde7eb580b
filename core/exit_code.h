#pragma once

namespace headsplit {

/// Exit codes of every program of the project; scripts rely on them.
enum class ExitCode : int {
  ok = 0,
  failed = 1,       ///< something failed, a claim was refuted, or a regression was found
  usage = 2,        ///< bad command line, bad input file, or the answer cannot be told
  interrupted = 3,  ///< stopped by a signal; the sweep can be resumed
};

}  // namespace headsplit
