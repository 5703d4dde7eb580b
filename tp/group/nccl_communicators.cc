#include "tp/group/nccl_communicators.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace headsplit::tp {
namespace {

/// Partners change when several gangs run at once: so many of their groupings are kept.
constexpr std::size_t kKeptMax = 8;

bool lists(const std::string& ids, const std::string& id) {
  return !id.empty() && ids.find(id) != std::string::npos;
}

/// The first of rank 0's ids that all ranks have kept, or nothing.
std::string common_id(const std::vector<std::string>& kept) {
  std::string_view left = kept.front();
  while (!left.empty()) {
    const std::string id(left.substr(0, left.find(',')));
    left.remove_prefix(std::min(left.size(), id.size() + 1));
    if (std::all_of(kept.begin(), kept.end(), [&](const auto& ids) { return lists(ids, id); })) {
      return id;
    }
  }
  return "";
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

std::string NcclCommunicators::kept_ids(int size, int rank) const {
  std::string ids;
  for (const Kept& kept : kept_) {
    if (kept.all->size() != size || kept.all->rank() != rank) continue;
    ids += (ids.empty() ? "" : ",") + kept.id;
  }
  return ids;
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

Result<NcclCommunicators::Kept*> NcclCommunicators::kept_or_made(
    Mesh& mesh, const std::vector<std::string>& kept, cudaStream_t stream) {
  const std::string id = common_id(kept);
  const auto found =
      std::find_if(kept_.begin(), kept_.end(), [&](const Kept& one) { return one.id == id; });
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
  } else {
    kept_.push_front(TRY(make(mesh, stream)));
    if (kept_.size() > kKeptMax) kept_.pop_back();
  }
  return &kept_.front();
}

Result<NcclGroups> NcclCommunicators::join(Mesh& mesh, const std::vector<std::string>& kept,
                                           const Layout& layout, cudaStream_t stream) {
  Kept& chosen = *TRY(kept_or_made(mesh, kept, stream));
  const std::string name = layout_name(layout);
  NcclGroups groups{.all = chosen.all.get()};
  groups.context = TRY(part(chosen, name + " context", context_members(layout, mesh.rank())));
  groups.requests = TRY(part(chosen, name + " requests", request_members(layout, mesh.rank())));
  for (NcclGroup* group : {groups.all, groups.context, groups.requests}) {
    if (group != nullptr) group->set_stream(stream);
  }
  return groups;
}

}  // namespace headsplit::tp
