#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/worker.h"
#include "core/lease.h"
#include "tp/group/mesh.h"

namespace headsplit::agent {

/// Says that this rank is prepared, waits for the go, and connects to the other ranks.
struct JoinedGang {
  std::unique_ptr<tp::Mesh> mesh;  ///< stays where it is: groups refer to it
  std::vector<std::string> kept;   ///< ids of the communicators that the ranks kept, by rank
};
/// kept_ids: this rank's.
Result<JoinedGang> join_gang(const Lease& lease, const std::string& kept_ids,
                             const AwaitGo& await_go);

}  // namespace headsplit::agent
