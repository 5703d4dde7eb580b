#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/collective_message.h"
#include "agent/device.h"
#include "agent/rank_steps.h"
#include "core/lease.h"
#include "tp/group/rank_attention.h"

namespace headsplit::agent {

/// A rank among the others of one attempt.  What it makes must not outlive it.
class JoinedRank {
 public:
  virtual ~JoinedRank() = default;

  /// The collectives of the layout, over the output of a bound kernel.
  virtual Result<tp::RankAttention*> attention(const kernels::BoundKernel& kernel,
                                               const kernels::Problem& shard,
                                               const Lease& lease) = 0;
  /// The steps of a kernel and of what `attention` gave.
  virtual Result<std::unique_ptr<RankSteps>> steps(kernels::BoundKernel& kernel) = 0;
  /// A collective alone, checked before.
  virtual Result<std::unique_ptr<RankSteps>> steps(const CollectiveMessage& message) = 0;
};

/// How a worker's ranks reach others on its kind of device: host memory and sockets, or a GPU and
/// NCCL, whose communicators are kept from attempt to attempt.
class RankDevice {
 public:
  virtual ~RankDevice() = default;

  virtual std::string transport() const = 0;  ///< sockets | nccl
  /// Of the communicators that are kept for this rank of a gang; empty where there are none.
  virtual std::string kept_ids(const GangSeat& seat) const = 0;
  /// Forms the groups of the lease's layout, over a mesh of all ranks that outlives what is given.
  /// kept: each rank's `kept_ids`.
  virtual Result<std::unique_ptr<JoinedRank>> join(tp::Mesh& mesh,
                                                   const std::vector<std::string>& kept,
                                                   const Lease& lease) = 0;
};

/// For a CPU device.
std::unique_ptr<RankDevice> host_rank_device(Device& device);
/// For a CUDA device.  Fails: config (this build has no NCCL, or there is none here).
Result<std::unique_ptr<RankDevice>> cuda_rank_device(Device& device);

}  // namespace headsplit::agent
