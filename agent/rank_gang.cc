#include "agent/rank_gang.h"

namespace headsplit::agent {
namespace {

constexpr std::chrono::milliseconds kConnectLimit{20'000};

}  // namespace

Result<JoinedGang> join_gang(const Lease& lease, const std::string& kept_ids,
                             const AwaitGo& await_go) {
  const std::string& address = lease.gang.address;
  auto listener = TRY(tp::Listener::open(address.empty() ? "127.0.0.1" : address));
  RankContact own = listener.contact();
  own.nccl_id = kept_ids;
  const auto contacts = TRY(await_go(own));
  if (static_cast<int>(contacts.size()) != lease.gang.size) {
    return fail(ErrorKind::protocol, "a gang of ", lease.gang.size, " ranks has ", contacts.size(),
                " contacts");
  }
  auto mesh = TRY(tp::Mesh::connect(std::move(listener), contacts, lease.gang.rank, kConnectLimit));
  JoinedGang gang{.mesh = std::make_unique<tp::Mesh>(std::move(mesh)), .kept = {}};
  for (const RankContact& contact : contacts) gang.kept.push_back(contact.nccl_id);
  return gang;
}

}  // namespace headsplit::agent
