#include "agent/ceilings.h"

namespace headsplit::agent {

Result<void> measure_cuda_ceilings(Device&, CeilingSizes, Ceilings&) {
  return fail(ErrorKind::config, "this build has no CUDA");
}

}  // namespace headsplit::agent
