#include "coordinator/agent_pool.h"

#include <algorithm>
#include <tuple>

#include "coordinator/scheduler_state.h"
#include "core/check.h"

namespace headsplit::coordinator {
namespace {

std::string place_of(const AgentInfo& info) {
  return info.nvlink_domain.empty() ? info.node : info.nvlink_domain;
}

bool serves(const std::string& wanted, const std::string& backend) {
  return wanted.empty() || wanted == backend;
}

bool failed_before(const GangWish& wish, const AgentInfo& info) {
  return wish.failed_on != nullptr && std::find(wish.failed_on->begin(), wish.failed_on->end(),
                                                info.name) != wish.failed_on->end();
}

}  // namespace

std::string AgentPool::kind_of(const AgentInfo& info) {
  return str(info.backend, " build ", info.build, " driver ", info.driver, " CUDA ", info.cuda);
}

void AgentPool::add(std::int64_t session, const AgentInfo& info) {
  Kind& kind = kinds_[kind_of(info)];
  kind.backend = info.backend;
  ++kind.connected;
  Place& place = kind.places[place_of(info)];
  place.members.emplace(session, Member{info});
  ++place.idle;
  ++idle_count_;
  addresses_[session] = {kind_of(info), place_of(info)};
  sessions_[info.name] = session;
}

void AgentPool::remove(std::int64_t session) {
  const auto address = addresses_.find(session);
  if (address == addresses_.end()) return;
  set_idle(session, false);
  Kind& kind = kinds_.at(address->second.kind);
  const auto place = kind.places.find(address->second.place);
  sessions_.erase(place->second.members.at(session).info.name);
  place->second.members.erase(session);
  if (place->second.members.empty()) kind.places.erase(place);
  if (--kind.connected == 0) kinds_.erase(address->second.kind);
  addresses_.erase(address);
}

void AgentPool::set_idle(std::int64_t session, bool idle) {
  const Address& address = addresses_.at(session);
  Place& place = kinds_.at(address.kind).places.at(address.place);
  Member& member = place.members.at(session);
  if (member.idle == idle) return;
  member.idle = idle;
  place.idle += idle ? 1 : -1;
  idle_count_ += idle ? 1 : std::size_t(-1);
}

int AgentPool::connected(const std::string& backend) const {
  int count = 0;
  for (const auto& [name, kind] : kinds_)
    count += serves(backend, kind.backend) ? kind.connected : 0;
  return count;
}

/// Idle agents with enough memory; those that failed the point before come last.
AgentPool::Candidates AgentPool::idle_of(const Place& place, const GangWish& wish) {
  Candidates found;
  for (const auto& [session, member] : place.members) {
    if (member.idle && fits(member.info, wish.memory_bytes)) {
      found.emplace_back(session, &member.info);
    }
  }
  std::stable_sort(found.begin(), found.end(), [&](const auto& left, const auto& right) {
    return std::tuple(failed_before(wish, *left.second), left.second->local_rank) <
           std::tuple(failed_before(wish, *right.second), right.second->local_rank);
  });
  return found;
}

int AgentPool::fitting(const Place& place, const GangWish& wish) {
  return static_cast<int>(
      std::count_if(place.members.begin(), place.members.end(),
                    [&](const auto& entry) { return fits(entry.second.info, wish.memory_bytes); }));
}

/// In the place with the fewest idle agents that are enough; over several places only when no
/// place could ever hold the gang.
AgentPool::Candidates AgentPool::packed(const Kind& kind, const GangWish& wish) {
  const auto wanted = static_cast<std::size_t>(wish.size);
  Candidates best;
  bool one_place_can = false;
  for (const auto& [name, place] : kind.places) {
    if (static_cast<int>(place.members.size()) < wish.size) continue;
    one_place_can = one_place_can || fitting(place, wish) >= wish.size;
    if (place.idle < wish.size) continue;
    Candidates idle = idle_of(place, wish);
    if (idle.size() >= wanted && (best.empty() || idle.size() < best.size()))
      best = std::move(idle);
  }
  if (!best.empty() || one_place_can || !wish.may_span) return best;
  std::vector<Candidates> places;
  for (const auto& [name, place] : kind.places) places.push_back(idle_of(place, wish));
  std::stable_sort(places.begin(), places.end(),
                   [](const auto& left, const auto& right) { return left.size() > right.size(); });
  for (const Candidates& place : places) best.insert(best.end(), place.begin(), place.end());
  return best;
}

/// One from each place in turn.
AgentPool::Candidates AgentPool::spread(const Kind& kind, const GangWish& wish) {
  std::vector<Candidates> places;
  for (const auto& [name, place] : kind.places) places.push_back(idle_of(place, wish));
  Candidates found;
  for (std::size_t turn = 0; static_cast<int>(found.size()) < wish.size; ++turn) {
    const std::size_t before = found.size();
    for (const Candidates& place : places) {
      if (turn < place.size()) found.push_back(place[turn]);
    }
    if (found.size() == before) break;
  }
  return found;
}

AgentPool::Candidates AgentPool::listed(const GangWish& wish, std::string& shortage) const {
  Candidates found;
  const auto& names = wish.options->agents;
  if (static_cast<int>(names.size()) < wish.size) {
    shortage = str("needs ", wish.size, " agents, and gang.agents lists ", names.size());
    return found;
  }
  std::string kind;
  bool all_idle = true;
  for (int rank = 0; rank < wish.size; ++rank) {
    const std::string& name = names[static_cast<std::size_t>(rank)];
    const auto session = sessions_.find(name);
    if (session == sessions_.end()) {
      shortage = "agent '" + name + "' of gang.agents is not connected";
      return {};
    }
    const Address& address = addresses_.at(session->second);
    if (rank == 0) kind = address.kind;
    if (address.kind != kind) {
      shortage = str("agents '", names[0], "' (", kind, ") and '", name, "' (", address.kind,
                     ") cannot run together");
      return {};
    }
    const Member& member =
        kinds_.at(address.kind).places.at(address.place).members.at(session->second);
    all_idle = all_idle && member.idle;
    found.emplace_back(session->second, &member.info);
  }
  return all_idle ? found : Candidates{};
}

std::string AgentPool::shortage_of(const GangWish& wish, int fitting_max) const {
  const int all = connected(wish.backend);
  std::string text =
      str("needs ", wish.size, " agents at once; ", all, all == 1 ? " is" : " are", " connected");
  if (kinds_.size() > 1) {
    text += ", of these may run together:";
    for (const auto& [name, kind] : kinds_) text += str(" ", kind.connected, " (", name, ")");
  }
  if (fitting_max < wish.size && all >= wish.size && kinds_.size() == 1) {
    text +=
        str(", and ", fitting_max, " of them have the ", wish.memory_bytes, " bytes a rank needs");
  }
  return text;
}

GangChoice AgentPool::choose(const GangWish& wish) const {
  GangChoice choice;
  Candidates found;
  if (wish.options->placement == Placement::listed) {
    found = listed(wish, choice.shortage);
  } else {
    int fitting_max = 0;
    for (const auto& [name, kind] : kinds_) {
      if (!serves(wish.backend, kind.backend)) continue;
      int fitting_here = 0;
      for (const auto& [where, place] : kind.places) {
        if (fitting_here < wish.size) fitting_here += fitting(place, wish);
      }
      fitting_max = std::max(fitting_max, fitting_here);
      if (fitting_here < wish.size) continue;
      found =
          wish.options->placement == Placement::spread ? spread(kind, wish) : packed(kind, wish);
      if (static_cast<int>(found.size()) >= wish.size) break;
    }
    if (fitting_max < wish.size) choice.shortage = shortage_of(wish, fitting_max);
  }
  if (static_cast<int>(found.size()) < wish.size) return choice;
  for (int rank = 0; rank < wish.size; ++rank) {
    choice.sessions.push_back(found[static_cast<std::size_t>(rank)].first);
  }
  return choice;
}

}  // namespace headsplit::coordinator
