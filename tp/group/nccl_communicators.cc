#include "tp/group/nccl_communicators.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace headsplit::tp {
namespace {

bool all_equal(const std::vector<std::string>& ids) {
  return std::all_of(ids.begin(), ids.end(), [&](const auto& id) { return id == ids.front(); });
}

/// Rank 0's new id, on all ranks.
Result<std::string> shared_id(Mesh& mesh) {
  std::vector<int> ranks(static_cast<std::size_t>(mesh.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  MeshGroup all(mesh, std::move(ranks));
  std::string id(NcclGroup::kIdDigits, '0');
  if (mesh.rank() == 0) id = TRY(NcclGroup::new_id());
  TRY(all.broadcast(std::as_writable_bytes(std::span(id)), 0));
  return id;
}

}  // namespace

std::string NcclCommunicators::kept_id(int size, int rank) const {
  const auto found = by_size_.find(size);
  return found != by_size_.end() && found->second.all->rank() == rank ? found->second.id : "";
}

Result<NcclCommunicators::Kept> NcclCommunicators::make(Mesh& mesh, cudaStream_t stream) {
  Kept made;
  made.id = TRY(shared_id(mesh));
  made.all = TRY(NcclGroup::join(made.id, mesh.rank(), mesh.size(), stream));
  return made;
}

Result<NcclGroup*> NcclCommunicators::part(Kept& kept, const std::string& name,
                                           const std::vector<int>& members) {
  if (members.size() == 1) return nullptr;
  if (static_cast<int>(members.size()) == kept.all->size()) return kept.all.get();
  auto& group = kept.parts[name];
  if (!group) group = TRY(kept.all->split(members.front()));
  return group.get();
}

Result<NcclGroups> NcclCommunicators::join(Mesh& mesh, const std::vector<std::string>& kept,
                                           const Layout& layout, cudaStream_t stream) {
  if (kept.front().empty() || !all_equal(kept)) {
    by_size_.erase(mesh.size());
    by_size_.emplace(mesh.size(), TRY(make(mesh, stream)));
  }
  Kept& of_size = by_size_.at(mesh.size());
  const std::string name = layout_name(layout);
  NcclGroups groups{.all = of_size.all.get()};
  groups.context = TRY(part(of_size, name + " context", context_members(layout, mesh.rank())));
  groups.requests = TRY(part(of_size, name + " requests", request_members(layout, mesh.rank())));
  for (NcclGroup* group : {groups.all, groups.context, groups.requests}) {
    if (group != nullptr) group->set_stream(stream);
  }
  return groups;
}

}  // namespace headsplit::tp
