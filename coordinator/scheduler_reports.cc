#include <algorithm>

#include "coordinator/coordinator_row.h"
#include "coordinator/scheduler_state.h"

/// How a reported row is taken: accepted, duplicate, stale or invalid.
namespace headsplit::coordinator {
namespace {

Ack ack_of(const Row& row, Acceptance acceptance, std::string reason) {
  return {row.point_id, row.epoch, acceptance, std::move(reason), row.sweep};
}

}  // namespace

void Scheduler::State::answer(const RowReported& event, Acceptance acceptance,
                              const std::string& reason) {
  if (acceptance == Acceptance::duplicate) ++totals.duplicate;
  if (acceptance == Acceptance::invalid) ++totals.invalid;
  if (acceptance != Acceptance::duplicate) {
    log(LogLevel::warn, "report_refused",
        log_field("session", str(event.session)) + log_field("point", event.row.point_id) +
            log_field("epoch", str(event.row.epoch)) + log_field("as", enum_name(acceptance)) +
            log_field("reason", reason));
  }
  actions.push_back(SendAck{event.session, ack_of(event.row, acceptance, reason)});
}

void Scheduler::State::refuse_stale(const RowReported& event, std::int64_t latest) {
  ++totals.stale;
  const Row& row = event.row;
  const std::string reason = str("epoch ", row.epoch, " was superseded by ", latest);
  log(LogLevel::warn, "report_stale",
      log_field("session", str(event.session)) + log_field("point", row.point_id) +
          log_field("reason", reason));
  actions.push_back(
      StoreAttempt{.sweep = row.sweep,
                   .point_id = row.point_id,
                   .epoch = row.epoch,
                   .outcome = "stale",
                   .reason = reason,
                   .row = row,
                   .ack = SendAck{event.session, ack_of(row, Acceptance::stale, reason)}});
}

/// A report of an attempt that was reported before and gave no row gets the same answer again.
bool Scheduler::State::answer_repeat(const RowReported& event,
                                     const std::vector<AttemptFailure>& failures) {
  for (const AttemptFailure& failure : failures) {
    if (failure.epoch != event.row.epoch) continue;
    const bool failed = failure.outcome == "failed" || failure.outcome == "cancelled";
    // A good part of a gang that failed on another rank: that it came before cannot be said.
    const bool other_rank = event.row.ranks == Ranks::real && event.row.status == Status::ok;
    const bool reported = failed && !other_rank;
    if (reported) answer(event, Acceptance::duplicate, failure.reason);
    if (failure.outcome == "invalid") answer(event, Acceptance::invalid, failure.reason);
    return reported || failure.outcome == "invalid";
  }
  return false;
}

void Scheduler::State::on(const RowReported& event) {
  on(AgentSpoke{event.session});
  const Row& row = event.row;
  SweepRun* sweep = active_sweep(row.sweep);
  if (sweep == nullptr) {
    const auto finished = std::find_if(finished_.begin(), finished_.end(), [&](const auto& old) {
      return old->view().id == row.sweep;
    });
    if (finished != finished_.end()) return answer_finished(**finished, event);
    return answer(event, Acceptance::invalid, "unknown sweep '" + row.sweep + "'");
  }
  const auto at = sweep->position_of(row.point_id);
  if (!at) return answer(event, Acceptance::invalid, "unknown point '" + row.point_id + "'");
  PointRun& point = sweep->point(*at);
  if (row.epoch < 1 || row.epoch > point.epoch) {
    return answer(event, Acceptance::invalid, str("epoch ", row.epoch, " was never granted"));
  }
  if (answer_repeat(event, point.troubles().failures)) return;
  if (row.epoch < point.epoch) return refuse_stale(event, point.epoch);
  if (point.storing) {
    point.waiting.push_back({event.session, true});
    return;
  }
  if (point.state == PointState::done) return answer(event, Acceptance::duplicate, "");
  if (sweep->is_gang(*at)) return take_part(*sweep, *at, event);
  take_report(*sweep, *at, event);
}

void Scheduler::State::answer_finished(const FinishedSweep& sweep, const RowReported& event) {
  const FinishedSweep::Point* point = sweep.find(event.row.point_id);
  if (point == nullptr) {
    return answer(event, Acceptance::invalid, "unknown point '" + event.row.point_id + "'");
  }
  if (event.row.epoch < 1 || event.row.epoch > point->epoch) {
    return answer(event, Acceptance::invalid, str("epoch ", event.row.epoch, " was never granted"));
  }
  if (answer_repeat(event, sweep.failures_of(point->id))) return;
  if (event.row.epoch < point->epoch) return refuse_stale(event, point->epoch);
  answer(event, Acceptance::duplicate, "");
}

/// The first report of a point's latest attempt.
void Scheduler::State::take_report(SweepRun& sweep, std::size_t at, const RowReported& event) {
  PointRun& point = sweep.point(at);
  release_agents(sweep, at);
  const Row& row = event.row;
  const std::string mismatch = mismatch_of(row, sweep.planned(at));
  if (!mismatch.empty()) return take_failed_report(sweep, at, event, "invalid", mismatch);
  if (row.status == Status::cancelled) {
    return take_failed_report(sweep, at, event, "cancelled", "the agent gave it up: " + row.reason);
  }
  if (row.status == Status::failed && row.retryable) {
    return take_failed_report(sweep, at, event, "failed", row.reason);
  }
  judge_node(sweep, at, event);
  sweep.decide(at, row.status);
  point.waiting.push_back({event.session, false});
  StoreRow store{sweep.plan().id, row};
  store.row.sweep = sweep.plan().name;
  store.row.resumed = false;
  actions.push_back(std::move(store));
}

/// A report that does not settle the point.  It counts once, even if its attempt was counted as
/// lost or expired before.
void Scheduler::State::take_failed_report(SweepRun& sweep, std::size_t at, const RowReported& event,
                                          const std::string& outcome, const std::string& reason) {
  PointRun& point = sweep.point(at);
  const Row& row = event.row;
  const auto acceptance = outcome == "invalid" ? Acceptance::invalid : Acceptance::accepted;
  ++(outcome == "invalid" ? totals.invalid : totals.accepted);
  StoreAttempt record{.sweep = sweep.plan().id,
                      .point_id = row.point_id,
                      .epoch = row.epoch,
                      .outcome = outcome,
                      .reason = reason,
                      .counts = !shutting_down_,
                      .row = row,
                      .ack = SendAck{event.session, ack_of(row, acceptance, reason)}};
  if (AttemptFailure* counted = point.add_troubles().failure_of(row.epoch)) {
    counted->outcome = outcome;
    counted->reason = reason;
    record.counts = false;
    actions.push_back(std::move(record));
    return;
  }
  const auto holder = agents_.find(event.session);
  fail_attempt(sweep, at, std::move(record),
               holder == agents_.end() ? std::nullopt : std::optional(holder->second.info));
}

void Scheduler::State::on(const RowStored& event) {
  SweepRun* sweep = active_sweep(event.sweep);
  if (sweep == nullptr) return;
  const auto at = sweep->position_of(event.point_id);
  if (!at || !sweep->point(*at).storing) return;
  const std::int64_t epoch = sweep->point(*at).epoch;
  for (const Waiting& waiting : sweep->stored(*at)) {
    const auto acceptance = waiting.repeats ? Acceptance::duplicate : Acceptance::accepted;
    ++(waiting.repeats ? totals.duplicate : totals.accepted);
    actions.push_back(
        SendAck{waiting.session, Ack{event.point_id, epoch, acceptance, "", event.sweep}});
  }
  end_if_finished(*sweep);
}

}  // namespace headsplit::coordinator
