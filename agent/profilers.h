#pragma once

#include <map>
#include <string>

namespace headsplit::agent {

/// Why this process must leave the hardware counters alone: another profiler or a sanitizer is in
/// it (found by what Nsight, nvprof, compute-sanitizer and other injectors put into the
/// environment).  Empty when there is none.  The counters have one owner at a time, and a tool
/// that replays or patches kernels makes every time and count wrong.
std::string other_profiler(const std::map<std::string, std::string>& environment);

/// The environment of this process, by name.
std::map<std::string, std::string> environment_variables();

}  // namespace headsplit::agent
