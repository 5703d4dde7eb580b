#include "tests/coordinator/simulation.h"

#include <algorithm>

namespace headsplit::coordinator {
namespace {

using Kind = HistoryEntry::Kind;

constexpr int kAgents = 5;
constexpr int kCalmStepsMax = 3000;
constexpr double kDeadlineGraceS = 0.5;

/// Of a gang only good parts count: whichever rank fails first ends the attempt for all.
bool settles(const Row& row) {
  if (row.ranks == Ranks::real) return row.status == Status::ok;
  return row.status == Status::ok || row.status == Status::skipped ||
         (row.status == Status::failed && !row.retryable);
}

}  // namespace

Simulation::Simulation(std::uint64_t seed, const std::vector<std::shared_ptr<const Plan>>& plans)
    : random_(seed), plans_(plans) {
  for (const auto& plan : plans_) {
    disk_.begin_sweep(*plan);
    for (const PlannedPoint& point : plan->points) {
      const bool gang = point.point.ranks == Ranks::real;
      note(Kind::planned, plan->id, point.id).ranks = gang ? point.point.layout.ranks() : 0;
    }
  }
  for (int i = 0; i < kAgents; ++i) agents_.push_back({.name = str("agent-", i)});
  crash();
}

bool Simulation::chance(double probability) {
  return static_cast<double>(random_() >> 11) < probability * 9007199254740992.0;
}

std::size_t Simulation::below(std::size_t count) { return random_() % count; }

HistoryEntry& Simulation::note(Kind kind, const std::string& sweep, const std::string& point_id,
                               std::int64_t epoch) {
  const std::string point = point_id.empty() ? "" : sweep + "/" + point_id;
  history_.push_back({.kind = kind, .at = now_, .point = point, .epoch = epoch});
  return history_.back();
}

void Simulation::run(int steps) {
  for (int i = 0; i < steps; ++i) chaos_step();
  chaos_ = false;
  for (Agent& agent : agents_) {
    agent.paused = false;
    agent.cut_off = false;
  }
  for (int i = 0; i < kCalmStepsMax; ++i) {
    if (calm_step()) return;
  }
}

void Simulation::chaos_step() {
  now_ += std::chrono::milliseconds(below(400));
  Agent& agent = agents_[below(agents_.size())];
  const bool reached = agent.session != 0 && !agent.paused && !agent.cut_off;
  if (chance(0.5)) step(Tick{});
  if (chance(0.6)) commit();
  if (reached && connected_.count(agent.session) && chance(0.8)) step(AgentSpoke{agent.session});
  // The coordinator has let the connection go: seen at once, or a little later.
  if (reached && !connected_.count(agent.session) && chance(0.5)) agent.session = 0;
  if (agent.session == 0 && !agent.paused && !agent.cut_off && chance(0.5)) connect(agent);
  if (!agent.paused && chance(0.7)) work(agent);
  if (chance(0.8)) deliver_up();
  if (chance(0.9)) deliver_down();
  if (chance(0.03)) disconnect(agent, chance(0.5));
  if (chance(0.02)) agent.paused = true;
  if (agent.paused && chance(0.1)) agent.paused = false;
  if (chance(0.02)) agent.cut_off = true;
  if (agent.cut_off && chance(0.1)) agent.cut_off = false;
  if (chance(0.02)) die(agent);
  if (chance(0.01)) crash();
  if (chance(0.0005)) {
    step(SweepCancelled{plans_[below(plans_.size())]->id, "nobody wants it"});
  }
}

/// One step without faults; true when every point has its row and the scheduler knows.
bool Simulation::calm_step() {
  now_ += std::chrono::milliseconds(300);
  step(Tick{});
  commit();
  for (Agent& agent : agents_) {
    if (agent.session == 0 || !connected_.count(agent.session)) connect(agent);
    step(AgentSpoke{agent.session});
    work(agent);
  }
  while (!up_.empty()) deliver_up();
  commit();
  while (!down_.empty()) deliver_down();
  const auto views = scheduler_->sweeps();
  return std::all_of(views.begin(), views.end(),
                     [](const auto& view) { return view.done() == view.points; });
}

void Simulation::connect(Agent& agent) {
  agent.session = ++last_session_;
  connected_[agent.session] = static_cast<std::size_t>(&agent - agents_.data());
  // As the service does it: what is in the hello counts before the agent is idle.
  for (const Row& row : agent.spool) step(RowReported{agent.session, row});
  step(AgentJoined{agent.session, AgentInfo{.name = agent.name, .backend = "cpu"}});
}

void Simulation::disconnect(Agent& agent, bool noticed) {
  const std::int64_t session = std::exchange(agent.session, 0);
  if (session == 0) return;
  std::erase_if(down_, [&](const Letter& letter) { return letter.session == session; });
  if (chance(0.5)) {  // what was on its way up may still arrive, or not
    std::erase_if(up_, [&](const Letter& letter) { return letter.session == session; });
  }
  if (!noticed) return;
  connected_.erase(session);
  step(AgentLost{session, "connection closed"});
}

/// The agent's process ends, and another begins under its name, with what was in the spool.
void Simulation::die(Agent& agent) {
  disconnect(agent, chance(0.5));
  agent = {.name = agent.name, .spool = std::move(agent.spool)};
}

/// The agent gets on with the lease it holds, or sends again what was not acknowledged.
void Simulation::work(Agent& agent) {
  if (!agent.holding) {
    if (agent.session != 0 && !agent.spool.empty() && chance(0.3)) {
      up_.push_back({agent.session, Report{agent.spool[below(agent.spool.size())]}});
    }
    return;
  }
  const Lease lease = *agent.holding;
  if (lease.gang.size > 0 && !agent.ready) {
    agent.ready = true;
    if (agent.session != 0) {
      up_.push_back({agent.session, Ready{lease.sweep, lease.point_id, lease.epoch, lease.gang.rank,
                                          RankContact{.port = lease.gang.rank}}});
    }
    return;
  }
  if (lease.gang.size > 0 && !agent.gone) return;
  agent.holding.reset();
  report(agent, outcome_of(lease));
}

void Simulation::report(Agent& agent, const Row& row) {
  const auto who = static_cast<std::size_t>(&agent - agents_.data());
  settles_[{row.sweep + "/" + row.point_id, row.epoch, who}] = settles(row);
  agent.spool.push_back(row);
  agent.spool.back().agent = agent.name;
  if (agent.session != 0) up_.push_back({agent.session, Report{agent.spool.back()}});
}

Row Simulation::outcome_of(const Lease& lease) {
  Row row = row_of(lease.point);
  row.epoch = lease.epoch;
  row.sweep = lease.sweep;
  row.rank = lease.gang.rank;
  row.status = Status::ok;
  row.time_us = 100;
  if (lease.gang.size > 0) row.parts = {RankPart{.attention_us = 1}};
  if (!chaos_) return row;
  const std::size_t luck = below(20);
  if (luck < 3) row.status = Status::failed;
  row.retryable = luck < 2;
  if (luck == 3) row.batch += 1;  // the report of a confused agent
  if (luck == 4) row.status = Status::skipped;
  if (luck == 5) row.status = Status::cancelled;
  return row;
}

Simulation::Agent* Simulation::agent_of(std::int64_t session) {
  for (Agent& agent : agents_) {
    if (agent.session == session) return &agent;
  }
  return nullptr;
}

/// One letter, whichever: lost, as it is, or to come once more.
void Simulation::deliver_up() {
  if (up_.empty()) return;
  const std::size_t at = chaos_ ? below(up_.size()) : 0;
  const Letter letter = up_[at];
  const bool again = chaos_ && chance(0.15);
  if (!again) up_.erase(up_.begin() + static_cast<std::ptrdiff_t>(at));
  const Agent* sender = agent_of(letter.session);
  if (chaos_ && (chance(0.1) || (sender != nullptr && sender->cut_off))) return;
  if (const auto* sent = std::get_if<Report>(&letter.body)) {
    step(RowReported{letter.session, sent->row});
  } else if (const auto* ready = std::get_if<Ready>(&letter.body)) {
    if (connected_.count(letter.session)) {
      note(Kind::ready, ready->sweep, ready->point_id, ready->epoch).session = letter.session;
    }
    step(RankReady{letter.session, *ready});
  }
}

/// The oldest letter to one of those that have some: a connection keeps the order.
void Simulation::deliver_down() {
  if (down_.empty()) return;
  const std::int64_t session = down_[chaos_ ? below(down_.size()) : 0].session;
  const auto at = std::find_if(down_.begin(), down_.end(),
                               [&](const Letter& letter) { return letter.session == session; });
  Agent* agent = agent_of(session);
  if (agent != nullptr && agent->paused) return;
  const Letter letter = *at;
  down_.erase(at);
  if (agent != nullptr && !agent->cut_off && !(chaos_ && chance(0.05))) read(*agent, letter);
}

void Simulation::read(Agent& agent, const Letter& letter) {
  const auto holds = [&](const auto& what) {
    return agent.holding && agent.holding->sweep == what.sweep &&
           agent.holding->point_id == what.point_id && agent.holding->epoch == what.epoch;
  };
  if (const auto* grant = std::get_if<Grant>(&letter.body)) {
    agent.holding = grant->lease;
    agent.ready = false;
    agent.gone = false;
  } else if (const auto* ack = std::get_if<Ack>(&letter.body)) {
    std::erase_if(agent.spool, [&](const Row& row) {
      return row.sweep == ack->sweep && row.point_id == ack->point_id && row.epoch == ack->epoch;
    });
  } else if (const auto* cancel = std::get_if<Cancel>(&letter.body)) {
    if (holds(*cancel)) agent.holding.reset();
  } else if (const auto* go = std::get_if<Go>(&letter.body)) {
    if (holds(*go)) agent.gone = true;
  }
}

// ---- The coordinator -------------------------------------------------------------------------

void Simulation::step(const Event& event) {
  for (const Action& action : scheduler_->step(event, now_)) carry_out(action);
  if (std::holds_alternative<Tick>(event)) note(Kind::ticked);
}

void Simulation::send(std::int64_t session, Letter letter) {
  letter.session = session;
  if (connected_.count(session)) down_.push_back(std::move(letter));
}

void Simulation::note_answer(const Ack& ack, std::int64_t session) {
  const auto who = connected_.find(session);
  if (who == connected_.end()) return;  // nobody is told
  const auto known = settles_.find({ack.sweep + "/" + ack.point_id, ack.epoch, who->second});
  if (known == settles_.end() || !known->second) return;
  HistoryEntry& entry = note(Kind::answered, ack.sweep, ack.point_id, ack.epoch);
  entry.acceptance = ack.acceptance;
  entry.session = session;
}

void Simulation::carry_out(const Action& action) {
  const auto deadline = [&](const Lease& lease) {
    return now_ + std::chrono::duration_cast<TimePoint::duration>(
                      std::chrono::duration<double>(lease.deadline_s + kDeadlineGraceS));
  };
  if (const auto* grant = std::get_if<GrantLease>(&action)) {
    const Lease& lease = grant->lease;
    note(Kind::granted, lease.sweep, lease.point_id, lease.epoch).deadline = deadline(lease);
    writes_.push_back(*grant);
  } else if (const auto* gang = std::get_if<GrantGang>(&action)) {
    const Lease& lease = gang->seats.front().lease;
    note(Kind::granted, lease.sweep, lease.point_id, lease.epoch).deadline = deadline(lease);
    writes_.push_back(*gang);
  } else if (const auto* row = std::get_if<StoreRow>(&action)) {
    note(Kind::attempt_closed, row->sweep, row->row.point_id, row->row.epoch);
    writes_.push_back(*row);
  } else if (const auto* attempt = std::get_if<StoreAttempt>(&action)) {
    if (attempt->outcome != "stale") {
      note(Kind::attempt_closed, attempt->sweep, attempt->point_id, attempt->epoch);
    }
    writes_.push_back(*attempt);
  } else if (const auto* ack = std::get_if<SendAck>(&action)) {
    note_answer(ack->ack, ack->session);
    send(ack->session, {0, ack->ack});
  } else if (const auto* go = std::get_if<SendGo>(&action)) {
    HistoryEntry& entry = note(Kind::go_sent, go->go.sweep, go->go.point_id, go->go.epoch);
    entry.session = go->session;
    entry.deadline = deadline(Lease{.deadline_s = plans_.back()->limits.point_timeout_s});
    send(go->session, {0, go->go});
  } else if (const auto* cancel = std::get_if<SendCancel>(&action)) {
    send(cancel->session, {0, cancel->cancel});
  } else if (const auto* drop = std::get_if<DropAgent>(&action)) {
    connected_.erase(drop->session);
  } else if (const auto* finished = std::get_if<SweepFinished>(&action)) {
    for (const auto& plan : plans_) {
      if (plan->id != finished->sweep) continue;
      for (const PlannedPoint& point : plan->points) note(Kind::ended, plan->id, point.id);
    }
  }
}

void Simulation::after_commit(const Write& write) {
  const auto send_lease = [&](const GrantLease& grant) {
    const Lease& lease = grant.lease;
    note(Kind::lease_sent, lease.sweep, lease.point_id, lease.epoch).session = grant.session;
    send(grant.session, {0, Grant{lease}});
  };
  if (const auto* grant = std::get_if<GrantLease>(&write)) {
    ++grants_;
    send_lease(*grant);
  } else if (const auto* gang = std::get_if<GrantGang>(&write)) {
    ++grants_;
    for (const GrantLease& seat : gang->seats) send_lease(seat);
  } else if (const auto* row = std::get_if<StoreRow>(&write)) {
    step(RowStored{row->sweep, row->row.point_id});
  } else if (const auto* attempt = std::get_if<StoreAttempt>(&write)) {
    if (attempt->ack) {
      note_answer(attempt->ack->ack, attempt->ack->session);
      send(attempt->ack->session, {0, attempt->ack->ack});
    }
  }
}

}  // namespace headsplit::coordinator
