#pragma once

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
  /// Id of what is kept for gangs of that size in which this process was that rank; empty when
  /// there is nothing.
  std::string kept_id(int size, int rank) const;

  /// For a layout over all ranks of the mesh, all of which call this.  kept: each rank's `kept_id`.
  /// What is given stays until a gang of the same size needs new ones.  Fails: config, nccl, io.
  Result<NcclGroups> join(Mesh& mesh, const std::vector<std::string>& kept, const Layout& layout,
                          cudaStream_t stream);

 private:
  struct Kept {
    std::string id;
    std::unique_ptr<NcclGroup> all;
    std::map<std::string, std::unique_ptr<NcclGroup>> parts;  ///< by layout and axis
  };

  static Result<Kept> make(Mesh& mesh, cudaStream_t stream);
  static Result<NcclGroup*> part(Kept& kept, const std::string& name,
                                 const std::vector<int>& members);

  std::map<int, Kept> by_size_;
};

}  // namespace headsplit::tp
