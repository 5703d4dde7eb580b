#include "agent/preflight.h"

namespace headsplit::agent {

Finding try_counters() { return {false, "this build has no CUDA, so it has no counters"}; }

std::string toolkit_cuda_version() { return {}; }

}  // namespace headsplit::agent
