#pragma once

#include "tp/group/nccl_group.h"
#include "tp/group/rank_attention.h"

namespace headsplit::tp {

/// RankAttention on GPUs: `communicate` enqueues on the stream set last and returns.
class CudaRankAttention : public RankAttention {
 public:
  /// Of this and of its groups.
  virtual void set_stream(cudaStream_t stream) = 0;

 protected:
  using RankAttention::RankAttention;
};

/// As host_rank_attention, over the output of a bound CUDA kernel.  Fails: also cuda.
Result<std::unique_ptr<CudaRankAttention>> cuda_rank_attention(const kernels::BoundKernel& kernel,
                                                               const kernels::Problem& shard,
                                                               const NcclGroups& groups,
                                                               Merge merge, int hidden,
                                                               cudaStream_t stream);

}  // namespace headsplit::tp
