#pragma once

#include <memory>
#include <string>

#include "agent/collective_message.h"
#include "agent/device.h"
#include "agent/rank_steps.h"
#include "core/lease.h"
#include "tp/group/rank_attention.h"

namespace headsplit::agent {

/// What a rank does with the others on its kind of device: host memory and sockets, or a GPU and
/// NCCL.  Made anew for each attempt; what it makes must not outlive it.
class RankDevice {
 public:
  virtual ~RankDevice() = default;

  virtual std::string transport() const = 0;  ///< sockets | nccl
  /// What the others need to join this rank's communicator; empty where there is none.
  virtual Result<std::string> communicator_id() = 0;
  /// Forms the groups of the lease's layout, over a mesh of all ranks that outlives this.
  /// id: rank 0's.
  virtual Result<void> join(tp::Mesh& mesh, const std::string& id, const Lease& lease) = 0;

  /// After `join`: the collectives of the layout, over the output of a bound kernel.
  virtual Result<tp::RankAttention*> attention(const kernels::BoundKernel& kernel,
                                               const kernels::Problem& shard,
                                               const Lease& lease) = 0;
  /// The steps of a kernel and of what `attention` gave.
  virtual Result<std::unique_ptr<RankSteps>> steps(kernels::BoundKernel& kernel) = 0;
  /// A collective alone, checked before.
  virtual Result<std::unique_ptr<RankSteps>> steps(const CollectiveMessage& message) = 0;
};

/// For a CPU device.
std::unique_ptr<RankDevice> host_rank_device(Device& device);
/// For a CUDA device.  Fails: config (this build has no NCCL, or there is none here).
Result<std::unique_ptr<RankDevice>> cuda_rank_device(Device& device);

}  // namespace headsplit::agent
