#include "coordinator/coordinator_row.h"
#include "coordinator/scheduler_state.h"
#include "core/check.h"

/// Agents that come, speak, fall silent and go, and what becomes of their attempts.
namespace headsplit::coordinator {

void Scheduler::State::on(const AgentJoined& event) {
  const bool added = agents_.emplace(event.session, AgentRun{event.agent, now}).second;
  CHECK(added);
  idle_.insert(event.session);
  log(LogLevel::info, "agent_joined",
      log_field("agent", event.agent.name) + log_field("session", str(event.session)) +
          log_field("backend", event.agent.backend) + log_field("device", event.agent.device));
}

void Scheduler::State::on(const AgentSpoke& event) {
  const auto found = agents_.find(event.session);
  if (found != agents_.end()) found->second.heard = now;
}

void Scheduler::State::on(const AgentLost& event) {
  remove_agent(event.session, "lost", event.reason);
}

void Scheduler::State::on(const Tick&) {
  std::vector<std::int64_t> silent;
  std::vector<std::int64_t> late;
  for (const auto& [session, agent] : agents_) {
    const bool expired =
        agent.sweep != nullptr && agent.sweep->point(agent.at).attempt->expires <= now;
    if (expired) {
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

void Scheduler::State::remove_agent(std::int64_t session, const std::string& outcome,
                                    const std::string& reason) {
  const auto found = agents_.find(session);
  if (found == agents_.end()) return;
  const AgentRun agent = found->second;
  agents_.erase(found);
  idle_.erase(session);
  log(LogLevel::warn, "agent_" + outcome,
      log_field("agent", agent.info.name) + log_field("session", str(session)) +
          log_field("reason", reason));
  if (agent.sweep == nullptr) return;
  ++(outcome == "expired" ? totals.expired : totals.lost);
  const PlannedPoint& planned = agent.sweep->planned(agent.at);
  fail_attempt(*agent.sweep, agent.at,
               StoreAttempt{.sweep = agent.sweep->plan().id,
                            .point_id = planned.id,
                            .epoch = agent.sweep->point(agent.at).epoch,
                            .outcome = outcome,
                            .reason = "agent " + agent.info.name + " " + reason,
                            .counts = true});
}

void Scheduler::State::release_agent(PointRun& point) {
  if (!point.attempt) return;
  const auto holder = agents_.find(point.attempt->session);
  if (holder == agents_.end()) return;
  holder->second.sweep = nullptr;
  idle_.insert(holder->first);
}

void Scheduler::State::fail_attempt(SweepRun& sweep, std::size_t at, StoreAttempt record) {
  PointRun& point = sweep.point(at);
  if (record.counts) {
    if (point.attempt) point.failed_on.push_back(point.attempt->agent);
    point.failures.push_back({record.epoch, record.outcome, record.reason});
  }
  log(LogLevel::warn, "attempt_" + record.outcome,
      point_fields(sweep, at) + log_field("epoch", str(record.epoch)) +
          log_field("reason", record.reason));
  actions.push_back(std::move(record));
  const auto used = static_cast<int>(point.failures.size());
  if (used < sweep.plan().limits.attempts) {
    ++totals.retried;
    sweep.wait_again(at);
    return;
  }
  std::string reasons = str(used, used == 1 ? " attempt" : " attempts", " failed");
  for (const AttemptFailure& failure : point.failures) {
    reasons += str("; ", failure.epoch, ": ", failure.outcome, ": ", failure.reason);
  }
  log(LogLevel::error, "point_failed", point_fields(sweep, at) + log_field("reason", reasons));
  store_coordinator_row(sweep, at, Status::failed, reasons);
}

}  // namespace headsplit::coordinator
