#include <algorithm>

#include "coordinator/plan.h"
#include "coordinator/scheduler_state.h"
#include "core/log_wanted.h"

/// Who gets which point.
namespace headsplit::coordinator {

bool fits(const AgentInfo& agent, std::int64_t memory_bytes) {
  return agent.memory_bytes == 0 || memory_bytes <= agent.memory_bytes;
}

void Scheduler::State::grant_all() {
  if (shutting_down_) return;
  gang_waits_ = false;
  for (SweepRun& sweep : active_) {
    while (!gang_waits_ && !idle_.empty() && grant_next(sweep)) {
    }
  }
}

std::vector<std::int64_t> Scheduler::State::idle_agents_of(const SweepRun& sweep) const {
  std::vector<std::int64_t> sessions;
  for (const std::int64_t session : idle_) {
    if (sweep.serves(agents_.at(session).info)) sessions.push_back(session);
  }
  return sessions;
}

bool Scheduler::State::some_agent_fits(const SweepRun& sweep, std::int64_t memory_bytes) const {
  return std::any_of(agents_.begin(), agents_.end(), [&](const auto& entry) {
    return sweep.serves(entry.second.info) && fits(entry.second.info, memory_bytes);
  });
}

std::int64_t Scheduler::State::most_memory_of(const SweepRun& sweep) const {
  std::int64_t most = 0;
  for (const auto& [session, agent] : agents_) {
    if (sweep.serves(agent.info)) most = std::max(most, agent.info.memory_bytes);
  }
  return most;
}

/// One waiting point granted, or skipped for its size; false when nothing can be done now.
bool Scheduler::State::grant_next(SweepRun& sweep) {
  if (sweep.queue().empty()) return false;
  std::optional<std::vector<std::int64_t>> idle_agents;
  int short_size = 0;  // gangs as large as one that lacks agents lack them too
  for (auto place = sweep.queue().first(); place; place = sweep.queue().after(*place)) {
    const std::size_t at = place->at;
    if (sweep.is_gang(at)) {
      const int size = sweep.planned(at).point.layout.ranks();
      if (size == short_size) continue;
      const GangNext next = next_gang(sweep, at);
      if (next == GangNext::done) return true;
      if (next == GangNext::waits) return false;
      short_size = size;
      continue;
    }
    if (!idle_agents) idle_agents = idle_agents_of(sweep);
    const std::vector<std::int64_t>& idle = *idle_agents;
    if (idle.empty()) return false;
    const std::int64_t needed_bytes = sweep.planned(at).memory_bytes;
    const auto& failed_on = sweep.point(at).troubles().failed_on;
    const auto badness = [&](std::int64_t session) {
      const AgentInfo& agent = agents_.at(session).info;
      const bool failed_here =
          std::find(failed_on.begin(), failed_on.end(), agent.name) != failed_on.end();
      return fits(agent, needed_bytes) ? (failed_here ? 1 : 0) : 2;
    };
    const auto best = std::min_element(idle.begin(), idle.end(), [&](auto left, auto right) {
      return badness(left) < badness(right);
    });
    if (badness(*best) < 2) {
      grant(sweep, at, *best);
      return true;
    }
    if (!some_agent_fits(sweep, needed_bytes)) {
      const std::string reason = memory_reason(needed_bytes, most_memory_of(sweep));
      log(LogLevel::info, "point_skipped", point_fields(sweep, at) + log_field("reason", reason));
      store_coordinator_row(sweep, at, Status::skipped, reason);
      return true;
    }
  }
  return false;
}

void Scheduler::State::grant(SweepRun& sweep, std::size_t at, std::int64_t session) {
  const Plan& plan = sweep.plan();
  const PlannedPoint& planned = sweep.planned(at);
  AgentRun& agent = agents_.at(session);
  const double timeout_s = plan.limits.point_timeout_s;
  sweep.start(at, Attempt{.members = {AttemptMember{session, agent.info.name, {}, {}}},
                          .expires = after(timeout_s + settings_.deadline_grace_s),
                          .granted = now});
  agent.sweep = &sweep;
  agent.at = at;
  idle_.erase(session);
  pool_.set_idle(session, false);
  ++totals.granted;
  const std::int64_t epoch = sweep.point(at).epoch;
  if (log_wanted(LogLevel::debug)) {
    log(LogLevel::debug, "lease_granted",
        point_fields(sweep, at) + log_field("epoch", str(epoch)) +
            log_field("agent", agent.info.name));
  }
  actions.push_back(GrantLease{session, Lease{.point_id = planned.id,
                                              .epoch = epoch,
                                              .sweep = plan.id,
                                              .point = planned.point,
                                              .problem = planned.problem,
                                              .measure = planned.measure,
                                              .seed = plan.seed,
                                              .deadline_s = timeout_s}});
}

}  // namespace headsplit::coordinator
