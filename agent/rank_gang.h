#pragma once

#include <memory>
#include <string>

#include "agent/worker.h"
#include "core/lease.h"
#include "tp/group/mesh.h"

namespace headsplit::agent {

/// Says that this rank is prepared, waits for the go, and connects to the other ranks.
/// nccl_id: of rank 0 of a CUDA gang.
struct JoinedGang {
  std::unique_ptr<tp::Mesh> mesh;  ///< stays where it is: groups refer to it
  std::string nccl_id;             ///< rank 0's
};
Result<JoinedGang> join_gang(const Lease& lease, const std::string& nccl_id,
                             const AwaitGo& await_go);

}  // namespace headsplit::agent
