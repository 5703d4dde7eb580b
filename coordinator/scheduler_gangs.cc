#include <algorithm>

#include "coordinator/coordinator_row.h"
#include "coordinator/gang_row.h"
#include "coordinator/scheduler_state.h"
#include "tp/shard.h"

/// Points that a gang runs: reserved at once, prepared, told to go, committed together.
namespace headsplit::coordinator {
namespace {

/// The problem of one rank, from that of rank 0: heads are alike, requests and context are shared.
RankProblem problem_of_rank(const PlannedPoint& planned, int rank) {
  const Layout& layout = planned.point.layout;
  const tp::RankPlace place = tp::rank_place(layout, rank);
  RankProblem problem = planned.problem;
  problem.batch = static_cast<int>(tp::share(planned.point.batch, layout.dp, place.dp_index));
  problem.context = tp::share(planned.point.context, layout.cp, place.cp_index);
  return problem;
}

Lease seat_lease(const Plan& plan, const PlannedPoint& planned, std::int64_t epoch, int rank) {
  return Lease{.point_id = planned.id,
               .epoch = epoch,
               .sweep = plan.id,
               .point = planned.point,
               .problem = problem_of_rank(planned, rank),
               .measure = planned.measure,
               .seed = plan.seed,
               .deadline_s = plan.limits.point_timeout_s,
               .gang = {.size = planned.point.layout.ranks(),
                        .rank = rank,
                        .pages = plan.gang.pages,
                        .merge = plan.gang.merge,
                        .hidden = plan.hidden}};
}

std::optional<std::size_t> rank_of(const Attempt& attempt, std::int64_t session, int rank) {
  const auto at = static_cast<std::size_t>(rank);
  if (rank < 0 || at >= attempt.members.size()) return std::nullopt;
  if (attempt.members[at].session != session) return std::nullopt;
  return at;
}

std::string rank_name(std::size_t rank, const AttemptMember& member) {
  return str("rank ", rank, " (agent ", member.agent, ") ");
}

}  // namespace

std::string rank_text(SweepRun& sweep, std::size_t at, std::int64_t session) {
  const PointRun& point = sweep.point(at);
  if (!point.attempt) return "";
  const auto& members = point.attempt->members;
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    if (members[rank].session != session) continue;
    if (sweep.is_gang(at)) return rank_name(rank, members[rank]);
    return "agent " + members[rank].agent + " ";
  }
  return "";
}

// ---- Reserving -------------------------------------------------------------------------------

Scheduler::State::GangNext Scheduler::State::next_gang(SweepRun& sweep, std::size_t at) {
  const PlannedPoint& planned = sweep.planned(at);
  PointRun& point = sweep.point(at);
  const GangWish wish{.size = planned.point.layout.ranks(),
                      .options = &sweep.plan().gang,
                      .backend = sweep.view().backend,
                      .memory_bytes = planned.memory_bytes,
                      .may_span = last_join_ <= after(-settings_.gang_settle_s),
                      .failed_on = &point.troubles().failed_on};
  const GangChoice choice = pool_.choose(wish);
  if (!choice.sessions.empty()) {
    if (point.troubles().short_since) point.add_troubles().short_since.reset();
    grant_gang(sweep, at, choice.sessions);
    return GangNext::done;
  }
  if (choice.shortage.empty()) {
    if (point.troubles().short_since) point.add_troubles().short_since.reset();
    gang_waits_ = true;
    return GangNext::waits;
  }
  if (pool_.connected(wish.backend) == 0) return GangNext::short_of_agents;
  if (!point.troubles().short_since) point.add_troubles().short_since = now;
  const TimePoint since = std::max(*point.troubles().short_since, last_join_);
  if (since > after(-settings_.gang_patience_s)) return GangNext::short_of_agents;
  log(LogLevel::info, "point_skipped",
      point_fields(sweep, at) + log_field("reason", choice.shortage));
  store_coordinator_row(sweep, at, Status::skipped, choice.shortage);
  return GangNext::done;
}

void Scheduler::State::grant_gang(SweepRun& sweep, std::size_t at,
                                  const std::vector<std::int64_t>& sessions) {
  const Plan& plan = sweep.plan();
  Attempt attempt{.expires = after(plan.limits.point_timeout_s + settings_.deadline_grace_s),
                  .granted = now};
  for (const std::int64_t session : sessions) {
    AgentRun& agent = agents_.at(session);
    attempt.members.push_back({session, agent.info.name, {}, {}});
    agent.sweep = &sweep;
    agent.at = at;
    idle_.erase(session);
    pool_.set_idle(session, false);
  }
  sweep.start(at, std::move(attempt));
  const std::int64_t epoch = sweep.point(at).epoch;
  totals.granted += 1;
  log(LogLevel::debug, "gang_granted",
      point_fields(sweep, at) + log_field("epoch", str(epoch)) +
          log_field("ranks", str(sessions.size())));
  GrantGang grant;
  for (std::size_t rank = 0; rank < sessions.size(); ++rank) {
    grant.seats.push_back(
        {sessions[rank], seat_lease(plan, sweep.planned(at), epoch, static_cast<int>(rank))});
  }
  actions.push_back(std::move(grant));
}

// ---- Prepare and go --------------------------------------------------------------------------

void Scheduler::State::on(const RankReady& event) {
  on(AgentSpoke{event.session});
  const Ready& ready = event.ready;
  SweepRun* sweep = active_sweep(ready.sweep);
  const auto at = sweep == nullptr ? std::nullopt : sweep->position_of(ready.point_id);
  PointRun* point = at ? &sweep->point(*at) : nullptr;
  const bool current = point != nullptr && point->attempt && point->epoch == ready.epoch;
  const auto rank = current ? rank_of(*point->attempt, event.session, ready.rank) : std::nullopt;
  if (!rank) {
    log(LogLevel::warn, "ready_refused",
        log_field("session", str(event.session)) + log_field("point", ready.point_id) +
            log_field("epoch", str(ready.epoch)) + log_field("rank", str(ready.rank)));
    actions.push_back(SendCancel{event.session, Cancel{ready.point_id, ready.epoch, ready.sweep}});
    return;
  }
  Attempt& attempt = *point->attempt;
  if (attempt.members[*rank].contact) return;  // it said so before
  attempt.members[*rank].contact = ready.contact;
  Go go{ready.sweep, ready.point_id, ready.epoch, {}};
  for (const AttemptMember& member : attempt.members) {
    if (!member.contact) return;
    go.contacts.push_back(*member.contact);
  }
  attempt.gone = now;
  attempt.expires = after(sweep->plan().limits.point_timeout_s + settings_.deadline_grace_s);
  for (const AttemptMember& member : attempt.members) {
    actions.push_back(SendGo{member.session, go});
  }
}

// ---- Parts -----------------------------------------------------------------------------------

/// A rank's report of the point's latest attempt.
void Scheduler::State::take_part(SweepRun& sweep, std::size_t at, const RowReported& event) {
  PointRun& point = sweep.point(at);
  if (!point.attempt) {
    ++totals.stale;
    const std::string reason = str("the gang of epoch ", event.row.epoch, " has ended");
    actions.push_back(StoreAttempt{
        .sweep = event.row.sweep,
        .point_id = event.row.point_id,
        .epoch = event.row.epoch,
        .outcome = "stale",
        .reason = reason,
        .row = event.row,
        .ack = SendAck{event.session, Ack{event.row.point_id, event.row.epoch, Acceptance::stale,
                                          reason, event.row.sweep}}});
    return;
  }
  auto& members = point.attempt->members;
  const auto named = static_cast<std::size_t>(std::max(0, event.row.rank));
  if (named < members.size() && members[named].part) {
    // It came before; the answer to both follows when the whole gang's row is durable.
    point.waiting.push_back({event.session, true});
    return;
  }
  const auto rank = rank_of(*point.attempt, event.session, event.row.rank);
  if (!rank) {
    return answer(event, Acceptance::invalid,
                  str("rank ", event.row.rank, " of this gang is another agent's"));
  }
  const bool whole =
      event.row.status == Status::ok && mismatch_of(event.row, sweep.planned(at)).empty();
  if (!whole) return end_gang(sweep, at, event, *rank);
  members[*rank].part = event.row;
  point.waiting.push_back({event.session, false});
  release_agent(event.session);
  const bool all = std::all_of(members.begin(), members.end(),
                               [](const auto& member) { return member.part.has_value(); });
  if (all) finish_gang(sweep, at);
}

/// A part that cannot be part of a row: the attempt ends for all ranks as this one ended.
void Scheduler::State::end_gang(SweepRun& sweep, std::size_t at, const RowReported& event,
                                std::size_t rank) {
  const std::string who = rank_name(rank, sweep.point(at).attempt->members[rank]);
  RowReported told = event;
  told.row.reason = who + told.row.reason;
  stop_gang(sweep, at, event.session, told.row.reason);
  take_report(sweep, at, told);
}

void Scheduler::State::finish_gang(SweepRun& sweep, std::size_t at) {
  PointRun& point = sweep.point(at);
  const Attempt& attempt = *point.attempt;
  std::vector<Row> parts;
  for (const AttemptMember& member : attempt.members) parts.push_back(*member.part);
  StoreRow store{sweep.plan().id, gang_row(parts)};
  store.row.sweep = sweep.plan().name;
  store.row.resumed = false;
  if (attempt.gone) {
    store.row.gang_start_us =
        std::chrono::duration<double, std::micro>(*attempt.gone - attempt.granted).count();
  }
  for (const AttemptMember& member : attempt.members) {
    const auto agent = agents_.find(member.session);
    if (agent != agents_.end()) quarantine_.succeeded(node_of(agent->second.info));
  }
  sweep.decide(at, Status::ok);
  actions.push_back(std::move(store));
}

void Scheduler::State::stop_gang(SweepRun& sweep, std::size_t at, std::int64_t except,
                                 const std::string& reason) {
  PointRun& point = sweep.point(at);
  if (!point.attempt) return;
  const Cancel cancel{sweep.planned(at).id, point.epoch, sweep.plan().id};
  for (const AttemptMember& member : point.attempt->members) {
    if (member.session != except && !member.part) {
      actions.push_back(SendCancel{member.session, cancel});
    }
  }
  if (!sweep.is_gang(at)) return;
  for (const Waiting& waiting : std::exchange(point.waiting, {})) {
    actions.push_back(SendAck{waiting.session, Ack{cancel.point_id, point.epoch, Acceptance::stale,
                                                   "the gang ended: " + reason, cancel.sweep}});
  }
}

}  // namespace headsplit::coordinator
