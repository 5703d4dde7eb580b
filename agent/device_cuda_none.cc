#include "agent/device_cuda.h"

namespace headsplit::agent {

Result<std::unique_ptr<Device>> open_cuda_device() {
  return fail(ErrorKind::config, "this build has no CUDA");
}

}  // namespace headsplit::agent
