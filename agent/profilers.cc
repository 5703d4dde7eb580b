#include "agent/profilers.h"

#include <unistd.h>

#include <array>
#include <string_view>

#include "core/result.h"

namespace headsplit::agent {

namespace {

struct Sign {
  std::string_view variable;  ///< name, or its beginning
  std::string_view tool;
};
constexpr std::array kSigns{
    Sign{"CUDA_INJECTION64_PATH", "a CUDA injection library"},
    Sign{"CUDA_INJECTION32_PATH", "a CUDA injection library"},
    Sign{"NV_NSIGHT_INJECTION_", "Nsight Compute"},
    Sign{"NV_COMPUTE_PROFILER_", "Nsight Compute"},
    Sign{"NV_TPS_LAUNCH_", "Nsight Compute"},
    Sign{"NSYS_PROFILING_SESSION_ID", "Nsight Systems"},
    Sign{"NV_SANITIZER_", "compute-sanitizer"},
    Sign{"COMPUTE_PROFILE", "the command-line profiler"},
};
constexpr std::array<std::string_view, 5> kPreloads{"nsight", "nsys", "nvprof", "sanitizer",
                                                    "Injection"};

}  // namespace

std::string other_profiler(const std::map<std::string, std::string>& environment) {
  for (const auto& [name, value] : environment) {
    if (value.empty()) continue;
    for (const Sign& sign : kSigns) {
      if (name.starts_with(sign.variable)) {
        return str(sign.tool, " is at work ($", name, " is set)");
      }
    }
    if (name != "LD_PRELOAD") continue;
    for (std::string_view part : kPreloads) {
      if (value.find(part) != std::string::npos) {
        return str("a profiler is preloaded ($LD_PRELOAD=", value, ")");
      }
    }
  }
  return {};
}

std::map<std::string, std::string> environment_variables() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace headsplit::agent
