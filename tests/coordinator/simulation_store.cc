#include <algorithm>

#include "tests/coordinator/simulation.h"

/// The durable half of the simulation, and the checks of the promises.
namespace headsplit::coordinator {

DiskSweep& Simulation::disk_of(const std::string& sweep) {
  return *std::find_if(disk_.begin(), disk_.end(),
                       [&](const DiskSweep& disk) { return disk.plan->id == sweep; });
}

PointProgress& Simulation::progress_of(const std::string& sweep, const std::string& point_id) {
  DiskSweep& disk = disk_of(sweep);
  return disk.progress[disk.position_of(point_id)];
}

/// Group commit of what was handed in, or of its first part; the coordinator may die right after
/// it, before anybody hears of it.
void Simulation::commit() {
  if (writes_.empty()) return;
  const std::size_t count = chaos_ ? 1 + below(writes_.size()) : writes_.size();
  const auto end = writes_.begin() + static_cast<std::ptrdiff_t>(count);
  const std::vector<Action> batch(writes_.begin(), end);
  writes_.erase(writes_.begin(), end);
  for (const Action& action : batch) make_durable(action);
  if (chaos_ && chance(0.01)) return crash();
  for (const Action& action : batch) after_commit(action);
}

void Simulation::make_durable(const Action& action) {
  if (const auto* store = std::get_if<StoreRow>(&action)) return store_row(*store);
  if (const auto* store = std::get_if<StoreAttempt>(&action)) return store_attempt(*store);
  const Lease& lease = std::get<GrantLease>(action).lease;
  PointProgress& progress = progress_of(lease.sweep, lease.point_id);
  if (progress.state == PointState::done) violated("P7", "a finished point is granted again");
  if (lease.epoch <= progress.epoch) violated("P4", "an epoch is granted that is not new");
  progress.state = PointState::running;
  progress.epoch = lease.epoch;
}

void Simulation::store_row(const StoreRow& store) {
  PointProgress& progress = progress_of(store.sweep, store.row.point_id);
  const bool added = disk_of(store.sweep).rows.emplace(store.row.point_id, store.row).second;
  if (!added || progress.state == PointState::done) violated("P2", "a second row of a point");
  if (store.row.epoch < progress.epoch) violated("P4", "a stale row is stored");
  progress.state = PointState::done;
  progress.epoch = store.row.epoch;
  progress.status = store.row.status;
}

void Simulation::store_attempt(const StoreAttempt& store) {
  PointProgress& progress = progress_of(store.sweep, store.point_id);
  for (AttemptFailure& failure : progress.failures) {
    if (failure.epoch == store.epoch && store.row && store.outcome != "stale") {
      failure.outcome = store.outcome;
    }
  }
  if (!store.counts) return;
  if (progress.state == PointState::done) violated("P2", "a finished point fails");
  progress.failures.push_back({store.epoch, store.outcome, store.reason});
}

void Simulation::after_commit(const Action& action) {
  if (const auto* grant = std::get_if<GrantLease>(&action)) {
    send_grant(*grant);
  } else if (const auto* row = std::get_if<StoreRow>(&action)) {
    step(RowStored{row->sweep, row->row.point_id});
  } else if (const auto* attempt = std::get_if<StoreAttempt>(&action)) {
    if (attempt->ack) acknowledge(*attempt->ack);
  }
}

void Simulation::send_grant(const GrantLease& grant) {
  const Attempt attempt{grant.lease.sweep + "/" + grant.lease.point_id, grant.lease.epoch};
  if (!grants_.insert(attempt).second) violated("P4", "two leases of one epoch are sent");
  Agent* agent = agent_of(grant.session);
  if (agent != nullptr && !(chaos_ && chance(0.05))) agent->holding.push_back(grant.lease);
}

/// An answer is on the wire: whatever becomes of it, it must agree with the disk and with every
/// other answer about the same attempt.
void Simulation::acknowledge(const SendAck& send) {
  Agent* agent = agent_of(send.session);
  if (agent == nullptr) return;
  const auto row = std::find_if(
      agent->unacknowledged.begin(), agent->unacknowledged.end(), [&](const Row& sent) {
        return sent.sweep == send.ack.sweep && sent.point_id == send.ack.point_id &&
               sent.epoch == send.ack.epoch;
      });
  if (row == agent->unacknowledged.end()) return;  // answered before
  const DiskSweep& disk = disk_of(row->sweep);
  const bool taken =
      send.ack.acceptance == Acceptance::accepted || send.ack.acceptance == Acceptance::duplicate;
  const bool settling = row->status == Status::ok || row->status == Status::skipped ||
                        (row->status == Status::failed && !row->retryable);
  if (settling && taken) {
    const auto stored = disk.rows.find(row->point_id);
    const bool is_this = stored != disk.rows.end() && stored->second.epoch == row->epoch;
    if (!is_this) violated("P2", "an accepted row is not the one on the disk");
  }
  const Attempt attempt{row->sweep + "/" + row->point_id, row->epoch};
  if (settling) {
    const auto [first, added] = settled_.emplace(attempt, send.ack.acceptance);
    const bool same =
        first->second == send.ack.acceptance || (taken && (first->second == Acceptance::accepted ||
                                                           first->second == Acceptance::duplicate));
    if (!added && !same) violated("P2", "a repeated report gets another answer");
  }
  if (!(chaos_ && chance(0.1))) agent->unacknowledged.erase(row);
}

}  // namespace headsplit::coordinator
