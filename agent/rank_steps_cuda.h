#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "agent/collective_message.h"
#include "agent/device.h"
#include "agent/rank_steps.h"
#include "tp/group/cuda_rank_attention.h"

/// Steps of a rank on a GPU: its kernel and NCCL on one stream, timed by events after a small
/// all-reduce that no rank leaves before all have come.
namespace headsplit::agent {

/// all: every rank of the gang.  What is passed must outlive the steps.  Fails: cuda.
Result<std::unique_ptr<RankSteps>> cuda_steps(Device& device, kernels::BoundKernel& kernel,
                                              tp::CudaRankAttention& attention, tp::NcclGroup& all);

/// A collective alone, checked before.  Fails: cuda, nccl, mismatch.
Result<std::unique_ptr<RankSteps>> cuda_message_steps(const CollectiveMessage& message,
                                                      tp::NcclGroup& all, cudaStream_t stream);

}  // namespace headsplit::agent
