#include "coordinator/coordinator_row.h"
#include "coordinator/scheduler_state.h"
#include "core/check.h"

/// Agents that come, speak, fall silent and go, and what becomes of their attempts.
namespace headsplit::coordinator {

void Scheduler::State::on(const AgentJoined& event) {
  const bool added = agents_.emplace(event.session, AgentRun{event.agent, now}).second;
  CHECK(added);
  pool_.add(event.session, event.agent);
  offer(event.session);
  last_join_ = now;
  log(LogLevel::info, "agent_joined",
      log_field("agent", event.agent.name) + log_field("session", str(event.session)) +
          log_field("backend", event.agent.backend) + log_field("device", event.agent.device));
}

void Scheduler::State::on(const AgentSpoke& event) {
  const auto found = agents_.find(event.session);
  if (found == agents_.end()) return;
  AgentRun& agent = found->second;
  agent.heard = now;
  if (!event.spool_full || *event.spool_full == agent.spool_full) return;
  agent.spool_full = *event.spool_full;
  log(LogLevel::warn, agent.spool_full ? "spool_full" : "spool_has_room",
      log_field("agent", agent.info.name) + log_field("session", str(event.session)));
  offer(event.session);
}

void Scheduler::State::on(const AgentLost& event) {
  remove_agent(event.session, "lost", event.reason);
}

void Scheduler::State::on(const Tick&) {
  release_drained();
  std::vector<std::int64_t> silent;
  std::vector<std::int64_t> late;
  for (const auto& [session, agent] : agents_) {
    if (is_late(agent, session)) {
      late.push_back(session);
    } else if (agent.heard <= after(-settings_.silence_limit_s)) {
      silent.push_back(session);
    }
  }
  for (const std::int64_t session : late) {
    const std::string reason = "held a lease past its deadline";
    remove_agent(session, "expired", reason);
    actions.push_back(DropAgent{session, reason});
  }
  for (const std::int64_t session : silent) {
    const std::string reason = str("silent for ", settings_.silence_limit_s, " s");
    remove_agent(session, "lost", reason);
    actions.push_back(DropAgent{session, reason});
  }
}

/// The agent holds a lease past its deadline.  In a gang that was not told to go it is those that
/// are not ready who are late; the others wait for them.
bool Scheduler::State::is_late(const AgentRun& agent, std::int64_t session) const {
  if (agent.sweep == nullptr) return false;
  const Attempt& attempt = *agent.sweep->point(agent.at).attempt;
  if (attempt.expires > now) return false;
  if (!agent.sweep->is_gang(agent.at) || attempt.gone) return true;
  return std::any_of(attempt.members.begin(), attempt.members.end(), [&](const auto& member) {
    return member.session == session && !member.contact;
  });
}

void Scheduler::State::remove_agent(std::int64_t session, const std::string& outcome,
                                    const std::string& reason) {
  const auto found = agents_.find(session);
  if (found == agents_.end()) return;
  const AgentRun agent = found->second;
  agents_.erase(found);
  idle_.erase(session);
  pool_.remove(session);
  log(LogLevel::warn, "agent_" + outcome,
      log_field("agent", agent.info.name) + log_field("session", str(session)) +
          log_field("reason", reason));
  if (agent.sweep == nullptr) return;
  ++(outcome == "expired" ? totals.expired : totals.lost);
  SweepRun& sweep = *agent.sweep;
  const std::string whole_reason = rank_text(sweep, agent.at, session) + reason;
  stop_gang(sweep, agent.at, session, whole_reason);
  release_agents(sweep, agent.at);
  fail_attempt(sweep, agent.at,
               StoreAttempt{.sweep = sweep.plan().id,
                            .point_id = sweep.planned(agent.at).id,
                            .epoch = sweep.point(agent.at).epoch,
                            .outcome = outcome,
                            .reason = whole_reason,
                            .counts = true},
               agent.info);
}

void Scheduler::State::release_agent(std::int64_t session) {
  const auto holder = agents_.find(session);
  if (holder == agents_.end()) return;
  holder->second.sweep = nullptr;
  offer(session);
}

void Scheduler::State::release_agents(SweepRun& sweep, std::size_t at) {
  const PointRun& point = sweep.point(at);
  if (!point.attempt) return;
  for (const AttemptMember& member : point.attempt->members) {
    const auto holder = agents_.find(member.session);
    const bool at_it =
        holder != agents_.end() && holder->second.sweep == &sweep && holder->second.at == at;
    if (at_it) release_agent(member.session);
  }
}

void Scheduler::State::fail_attempt(SweepRun& sweep, std::size_t at, StoreAttempt record,
                                    const std::optional<AgentInfo>& blamed) {
  PointRun& point = sweep.point(at);
  const std::string outcome = record.outcome;
  const bool counts = record.counts;
  if (counts) point.add_troubles().failures.push_back({record.epoch, outcome, record.reason});
  log(LogLevel::warn, "attempt_" + outcome,
      point_fields(sweep, at) + log_field("epoch", str(record.epoch)) +
          log_field("reason", record.reason));
  actions.push_back(std::move(record));
  if (counts && blamed) {
    point.add_troubles().failed_on.push_back(blamed->name);
    blame(sweep, at, *blamed, outcome);
  }
  const PointTroubles& troubles = point.troubles();
  const bool condemned =
      static_cast<int>(troubles.failed_nodes.size()) >= settings_.quarantine.point_nodes_max;
  if (condemned || static_cast<int>(troubles.failures.size()) >= sweep.plan().limits.attempts) {
    return end_failed_point(sweep, at, condemned);
  }
  ++totals.retried;
  sweep.wait_again(at);
}

void Scheduler::State::end_failed_point(SweepRun& sweep, std::size_t at, bool condemned) {
  const PointTroubles& troubles = sweep.point(at).troubles();
  const std::size_t used = troubles.failures.size();
  std::string reasons = str(used, used == 1 ? " attempt" : " attempts", " failed");
  if (condemned) {
    ++totals.condemned;
    reasons += str(" on ", troubles.failed_nodes.size(), " nodes, so it is the point");
    quarantine_.forgive(sweep.planned(at).id);
  }
  for (const AttemptFailure& failure : troubles.failures) {
    reasons += str("; ", failure.epoch, ": ", failure.outcome, ": ", failure.reason);
  }
  log(LogLevel::error, condemned ? "point_condemned" : "point_failed",
      point_fields(sweep, at) + log_field("reason", reasons));
  store_coordinator_row(sweep, at, Status::failed, reasons);
}

}  // namespace headsplit::coordinator
