#include <algorithm>

#include "coordinator/schema.h"
#include "tests/coordinator/simulation.h"

/// The durable half of the simulation.
namespace headsplit::coordinator {
namespace {

StoreWrite record_of(const GrantLease& grant) {
  return LeaseWrite{grant.lease.sweep, grant.lease.point_id, grant.lease.epoch, ""};
}
StoreWrite record_of(const GrantGang& grant) { return record_of(grant.seats.front()); }
StoreWrite record_of(const StoreRow& store) { return RowWrite{store.sweep, store.row}; }
StoreWrite record_of(const StoreAttempt& store) {
  return AttemptWrite{store.sweep,  store.point_id, store.epoch, store.outcome,
                      store.reason, store.counts,   store.row};
}

}  // namespace

SimulatedDisk::SimulatedDisk()
    : database_(Database::open(":memory:", OpenMode::read_write, 0).value()) {
  migrate(database_, migrations()).value();
  tables_ = StoreTables::open(database_).value();
}

void SimulatedDisk::begin_sweep(const Plan& plan) {
  tables_->begin_sweep(std::make_shared<const Plan>(plan), "").value();
}

RestoredSweeps SimulatedDisk::restore() {
  tables_ = StoreTables::open(database_).value();
  database_.execute("BEGIN").value();
  RestoredSweeps sweeps = tables_->restore().value();
  database_.execute("COMMIT").value();
  return sweeps;
}

Result<void> SimulatedDisk::commit(const std::vector<StoreWrite>& records,
                                   std::optional<std::size_t> dies_after) {
  TRY(database_.execute("BEGIN"));
  for (std::size_t at = 0; at < records.size(); ++at) {
    if (dies_after == at) return database_.execute("ROLLBACK");
    const auto applied =
        std::visit([&](const auto& body) { return tables_->apply(body); }, records[at]);
    if (applied) continue;
    TRY(database_.execute("ROLLBACK"));
    return applied.error();
  }
  return database_.execute(dies_after ? "ROLLBACK" : "COMMIT");
}

/// Group commit of what was handed in, or of its first part.  The coordinator may die within it, or
/// right after it, before anybody hears of it.
void Simulation::commit() {
  if (writes_.empty()) return;
  const std::size_t count = chaos_ ? 1 + below(writes_.size()) : writes_.size();
  const auto end = writes_.begin() + static_cast<std::ptrdiff_t>(count);
  const std::vector<Write> batch(writes_.begin(), end);
  writes_.erase(writes_.begin(), end);
  std::vector<StoreWrite> records;
  for (const Write& write : batch) {
    records.push_back(std::visit([](const auto& body) { return record_of(body); }, write));
  }
  std::optional<std::size_t> dies_after;
  if (chaos_ && chance(0.005)) dies_after = below(count + 1);
  // A refusal means that the scheduler asked for what the promises forbid: the checker says which,
  // from the entries below; the record itself is lost, as in the store.
  if (const auto done = disk_.commit(records, dies_after); !done) {
    note(HistoryEntry::Kind::row_durable, "refused by the store", done.error().message);
  }
  if (dies_after) return crash();
  for (const Write& write : batch) {
    if (const auto* row = std::get_if<StoreRow>(&write)) {
      HistoryEntry& entry =
          note(HistoryEntry::Kind::row_durable, row->sweep, row->row.point_id, row->row.epoch);
      entry.status = row->row.status;
      entry.by_agent = !row->row.agent.empty();
      entry.ranks = static_cast<int>(row->row.parts.size());
    } else if (!std::holds_alternative<StoreAttempt>(write)) {
      const GrantLease& grant = std::holds_alternative<GrantLease>(write)
                                    ? std::get<GrantLease>(write)
                                    : std::get<GrantGang>(write).seats.front();
      note(HistoryEntry::Kind::lease_durable, grant.lease.sweep, grant.lease.point_id,
           grant.lease.epoch);
    }
  }
  if (chaos_ && chance(0.01)) return crash();
  for (const Write& write : batch) after_commit(write);
}

void Simulation::crash() {
  if (scheduler_) note(HistoryEntry::Kind::crashed);
  ++crashes_;
  writes_.clear();
  up_.clear();
  down_.clear();
  connected_.clear();
  scheduler_ = std::make_unique<Scheduler>(
      SchedulerSettings{.silence_limit_s = 3,
                        .deadline_grace_s = 0.5,
                        .gang_patience_s = 5,
                        .gang_settle_s = 0.5,
                        .quarantine = {.node_failures_max = 3, .drain_s = 4}});
  RestoredSweeps restored = disk_.restore();
  for (const auto& sweep : restored.finished) {
    for (const FinishedSweep::Point& point : sweep->points()) {
      if (crashes_ == 1) break;
      HistoryEntry& entry =
          note(HistoryEntry::Kind::restored, sweep->view().id, point.id, point.epoch);
      entry.done = true;
      entry.resumed = true;  // it is read back as it was, not begun again
    }
    step(SweepRecalled{sweep});
  }
  for (StoredSweep& sweep : restored.open) {
    for (std::size_t at = 0; at < sweep.progress.size() && crashes_ > 1; ++at) {
      const PointProgress& progress = sweep.progress[at];
      HistoryEntry& entry = note(HistoryEntry::Kind::restored, sweep.plan->id,
                                 sweep.plan->points[at].id, progress.epoch);
      entry.done = progress.state == PointState::done;
      entry.resumed = progress.resumed;
    }
    step(SweepSubmitted{sweep.plan, sweep.progress, ""});
  }
}

}  // namespace headsplit::coordinator
