#include "agent/rank_device.h"

/// A build without CUDA or NCCL's header.
namespace headsplit::agent {

Result<std::unique_ptr<RankDevice>> cuda_rank_device(Device&) {
  return fail(ErrorKind::config, "this build has no NCCL: gangs of GPUs need a build with nccl.h");
}

}  // namespace headsplit::agent
