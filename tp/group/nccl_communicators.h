#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tp/group/nccl_group.h"

namespace headsplit::tp {

/// The communicators of a process, kept from gang to gang: NCCL takes from a quarter of a second to
/// a whole one to make them.  A gang of the same ranks finds them again, any other makes new ones.
class NcclCommunicators {
 public:
  /// Ids of what is kept of gangs of that size in which this process was that rank, with commas
  /// between them, the latest first.
  std::string kept_ids(int size, int rank) const;

  /// For a layout over all ranks of the mesh, all of which call this.  kept: each rank's
  /// `kept_ids`.  What is given stays until the next call.  Fails: config, nccl, io.
  Result<NcclGroups> join(Mesh& mesh, const std::vector<std::string>& kept, const Layout& layout,
                          cudaStream_t stream);

 private:
  struct Kept {
    std::string id;
    std::unique_ptr<NcclGroup> all;
    std::map<std::string, std::unique_ptr<NcclGroup>> parts;  ///< by layout and axis
  };

  static Result<Kept> make(Mesh& mesh, cudaStream_t stream);
  Result<Kept*> kept_or_made(Mesh& mesh, const std::vector<std::string>& kept, cudaStream_t stream);
  static Result<NcclGroup*> part(Kept& kept, const std::string& name,
                                 const std::vector<int>& members);

  std::list<Kept> kept_;  ///< the latest first
};

}  // namespace headsplit::tp
