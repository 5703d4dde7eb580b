#include <algorithm>

#include "coordinator/scheduler_state.h"

/// Who is kept from work: agents of nodes where attempts keep failing, and agents that have no room
/// for rows.
namespace headsplit::coordinator {
namespace {

/// What a failure counts as.  Agents that are lost within one minute are one incident: a node that
/// was switched off, say, and not several points that failed.
std::string incident_of(const std::string& outcome, const std::string& point_id, TimePoint now) {
  if (outcome != "lost") return point_id;
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(now.time_since_epoch());
  return str("lost in minute ", minutes.count());
}

}  // namespace

std::string node_of(const AgentInfo& agent) { return agent.node.empty() ? agent.name : agent.node; }

std::string Scheduler::State::why_held_back(const AgentRun& agent) const {
  if (agent.spool_full) return "its spool is full";
  return quarantine_.reason(node_of(agent.info));
}

void Scheduler::State::offer(std::int64_t session) {
  const AgentRun& agent = agents_.at(session);
  const bool idle = agent.sweep == nullptr && why_held_back(agent).empty();
  if (idle) {
    idle_.insert(session);
  } else {
    idle_.erase(session);
  }
  pool_.set_idle(session, idle);
}

void Scheduler::State::blame(SweepRun& sweep, std::size_t at, const AgentInfo& agent,
                             const std::string& outcome) {
  if (outcome == "cancelled") return;
  const std::string node = node_of(agent);
  const std::string& point_id = sweep.planned(at).id;
  sweep.point(at).add_troubles().failed_nodes.insert(node);
  const bool due = quarantine_.failed(node, incident_of(outcome, point_id, now));
  if (due && others_can_work(node, agent.backend)) drain_node(node);
}

void Scheduler::State::judge_node(SweepRun& sweep, std::size_t at, const RowReported& event) {
  const auto holder = agents_.find(event.session);
  if (holder == agents_.end()) return;
  const AgentInfo& agent = holder->second.info;
  if (event.row.status == Status::ok) quarantine_.succeeded(node_of(agent));
  if (event.row.status == Status::failed) blame(sweep, at, agent, "failed");
}

/// A node that would leave nobody to do the work is not drained: its failures are what there is.
bool Scheduler::State::others_can_work(const std::string& node, const std::string& backend) const {
  return std::any_of(agents_.begin(), agents_.end(), [&](const auto& entry) {
    const AgentInfo& other = entry.second.info;
    return other.backend == backend && node_of(other) != node &&
           !quarantine_.drained(node_of(other));
  });
}

void Scheduler::State::drain_node(const std::string& node) {
  quarantine_.drain(node, now);
  ++totals.drained;
  log(LogLevel::error, "node_drained",
      log_field("node", node) + log_field("reason", quarantine_.reason(node)));
  for (const auto& [session, agent] : agents_) {
    if (node_of(agent.info) == node) offer(session);
  }
}

void Scheduler::State::release_drained() {
  const std::set<std::string> released = quarantine_.release(now);
  if (released.empty()) return;
  for (const std::string& node : released) {
    log(LogLevel::info, "node_on_trial", log_field("node", node));
  }
  for (const auto& [session, agent] : agents_) {
    if (released.count(node_of(agent.info)) > 0) offer(session);
  }
}

}  // namespace headsplit::coordinator
