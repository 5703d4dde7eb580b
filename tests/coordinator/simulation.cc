#include "tests/coordinator/simulation.h"

#include <algorithm>

namespace headsplit::coordinator {
namespace {

constexpr int kAgents = 4;
constexpr int kCalmStepsMax = 3000;
constexpr double kSilenceLimitS = 3;

}  // namespace

std::size_t DiskSweep::position_of(const std::string& point_id) const {
  const auto found = std::find_if(plan->points.begin(), plan->points.end(),
                                  [&](const auto& planned) { return planned.id == point_id; });
  return static_cast<std::size_t>(found - plan->points.begin());
}

Simulation::Simulation(std::uint64_t seed, std::vector<std::shared_ptr<const Plan>> plans)
    : random_(seed) {
  for (auto& plan : plans) {
    disk_.push_back({plan, std::vector<PointProgress>(plan->points.size()), {}});
  }
  for (int i = 0; i < kAgents; ++i) agents_.push_back({.name = str("agent-", i)});
  crash();
}

bool Simulation::chance(double probability) {
  return std::uniform_real_distribution<>(0, 1)(random_) < probability;
}

std::size_t Simulation::below(std::size_t count) {
  return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
}

void Simulation::violated(const std::string& promise, const std::string& what) {
  violations_.emplace(promise, what);
}

void Simulation::run(int steps) {
  for (int i = 0; i < steps; ++i) chaos_step();
  chaos_ = false;
  for (Agent& agent : agents_) agent.paused = false;
  for (int i = 0; i < kCalmStepsMax; ++i) {
    if (calm()) return;
  }
  violated("P3", "the sweeps did not end");
}

void Simulation::chaos_step() {
  now_ += std::chrono::milliseconds(below(400));
  Agent& agent = agents_[below(agents_.size())];
  if (chance(0.5)) step(Tick{});
  if (chance(0.6)) commit();
  if (!agent.paused && agent.session != 0 && chance(0.8)) step(AgentSpoke{agent.session});
  if (!agent.paused && agent.session == 0 && chance(0.5)) connect(agent);
  if (!agent.paused && chance(0.7)) work(agent);
  if (!in_flight_.empty() && chance(0.7)) deliver_report();
  if (chance(0.03)) disconnect(agent, chance(0.5));
  if (chance(0.02)) agent.paused = true;
  if (agent.paused && chance(0.1)) agent.paused = false;
  if (chance(0.02)) agent = {.name = agent.name, .session = agent.session};  // its worker is gone
  if (chance(0.01)) crash();
  if (chance(0.0005)) step(SweepCancelled{disk_.back().plan->id, "nobody wants it"});
}

/// One step without faults; true when every point has its row and the scheduler knows.
bool Simulation::calm() {
  now_ += std::chrono::milliseconds(300);
  step(Tick{});
  commit();
  for (Agent& agent : agents_) {
    if (agent.session == 0) connect(agent);
    step(AgentSpoke{agent.session});
    work(agent);
  }
  while (!in_flight_.empty()) deliver_report();
  const auto views = scheduler_->sweeps();
  const bool ended = std::all_of(views.begin(), views.end(),
                                 [](const auto& view) { return view.done() == view.points; });
  if (!ended) return false;
  for (const DiskSweep& disk : disk_) {
    if (disk.rows.size() != disk.plan->points.size()) {
      violated("P3", str(disk.rows.size(), " rows of ", disk.plan->points.size(), " points"));
    }
  }
  return true;
}

void Simulation::crash() {
  ++crashes_;
  writes_.clear();
  in_flight_.clear();
  for (Agent& agent : agents_) agent.session = 0;
  scheduler_ = std::make_unique<Scheduler>(
      SchedulerSettings{.silence_limit_s = kSilenceLimitS, .deadline_grace_s = 0.5});
  for (const DiskSweep& disk : disk_) step(SweepSubmitted{disk.plan, disk.progress, ""});
}

void Simulation::connect(Agent& agent) {
  agent.session = ++last_session_;
  step(AgentJoined{agent.session, AgentInfo{.name = agent.name, .backend = "cpu"}});
  for (const Row& row : agent.unacknowledged) in_flight_.push_back({agent.session, row});
}

void Simulation::disconnect(Agent& agent, bool noticed) {
  const std::int64_t session = std::exchange(agent.session, 0);
  if (chance(0.5)) {  // what was on the wire may still arrive, or not
    std::erase_if(in_flight_, [&](const auto& report) { return report.session == session; });
  }
  if (session != 0 && noticed) step(AgentLost{session, "connection closed"});
}

/// The agent finishes a lease it holds, or sends again what was not acknowledged.
void Simulation::work(Agent& agent) {
  if (!agent.holding.empty()) {
    const Row row = outcome_of(agent.holding.front());
    agent.holding.erase(agent.holding.begin());
    agent.unacknowledged.push_back(row);
    if (agent.session != 0) in_flight_.push_back({agent.session, row});
  } else if (!agent.unacknowledged.empty() && agent.session != 0 && chance(0.3)) {
    in_flight_.push_back({agent.session, agent.unacknowledged[below(agent.unacknowledged.size())]});
  }
}

Row Simulation::outcome_of(const Lease& lease) {
  Row row = row_of(lease.point);
  row.epoch = lease.epoch;
  row.sweep = lease.sweep;
  row.status = Status::ok;
  row.time_us = 100;
  if (!chaos_) return row;
  const std::size_t luck = below(20);
  if (luck < 3) row.status = Status::failed;
  row.retryable = luck < 2;
  if (luck == 3) row.batch += 1;  // the report of a confused agent
  if (luck == 4) row.status = Status::skipped;
  if (luck == 5) row.status = Status::cancelled;
  return row;
}

void Simulation::deliver_report() {
  const std::size_t at = chaos_ ? below(in_flight_.size()) : 0;
  const RowReported report = in_flight_[at];
  const bool again = chaos_ && chance(0.15);
  if (!again) in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(at));
  if (chaos_ && chance(0.1)) return;  // lost
  step(report);
}

Simulation::Agent* Simulation::agent_of(std::int64_t session) {
  for (Agent& agent : agents_) {
    if (agent.session == session) return &agent;
  }
  return nullptr;
}

void Simulation::step(const Event& event) {
  for (const Action& action : scheduler_->step(event, now_)) carry_out(action);
}

void Simulation::carry_out(const Action& action) {
  if (std::holds_alternative<GrantLease>(action) || std::holds_alternative<StoreRow>(action) ||
      std::holds_alternative<StoreAttempt>(action)) {
    writes_.push_back(action);
  } else if (const auto* ack = std::get_if<SendAck>(&action)) {
    acknowledge(*ack);
  } else if (const auto* cancel = std::get_if<SendCancel>(&action)) {
    Agent* agent = agent_of(cancel->session);
    if (agent == nullptr || (chaos_ && chance(0.3))) return;
    std::erase_if(agent->holding, [&](const Lease& lease) {
      return lease.sweep == cancel->cancel.sweep && lease.point_id == cancel->cancel.point_id &&
             lease.epoch == cancel->cancel.epoch;
    });
  } else if (const auto* drop = std::get_if<DropAgent>(&action)) {
    Agent* agent = agent_of(drop->session);
    if (agent != nullptr) agent->session = 0;
  }
}

}  // namespace headsplit::coordinator
