#include <boost/asio/post.hpp>
#include <utility>

#include "coordinator/service.h"
#include "coordinator/unix_time.h"

/// What the scheduler decides, carried out.
namespace headsplit::coordinator {

/// All that a step wants stored goes to the store at once: a row and the next grant to its agent
/// are one commit.
void Service::apply(const Event& event) {
  for (Action& action : scheduler_.step(event, Clock::now())) {
    std::visit([this](auto& body) { carry_out(body); }, action);
  }
  if (!to_store_.empty()) store_.write(std::exchange(to_store_, {}));
}

/// What waits for a record is moved, never copied: it may hold a row.  The store's thread answers a
/// whole commit at once, so that one call of ours takes all of it.
void Service::store(StoreWrite record, std::function<void()> then) {
  const auto waiting = std::make_shared<WaitingRecord>(Clock::now(), std::move(then));
  // The store may outlive us, and answer when nobody runs our executor any more.
  Store::Done done = [this, waiting, answered = answered_](Result<> stored) {
    waiting->stored = std::move(stored);
    const std::lock_guard lock(answered->mutex);
    answered->records.push_back(waiting);
    if (answered->records.size() == 1) {
      net::post(answered->executor, [this] { take_settled(); });
    }
  };
  to_store_.push_back({std::move(record), std::move(done)});
}

void Service::take_settled() {
  std::vector<std::shared_ptr<WaitingRecord>> settled;
  {
    const std::lock_guard lock(answered_->mutex);
    settled.swap(answered_->records);
  }
  for (const std::shared_ptr<WaitingRecord>& record : settled) {
    if (record->stored) {
      telemetry_.committed(std::chrono::duration<double>(Clock::now() - record->since).count());
      if (record->then) record->then();
    } else if (!store_error_) {
      log_line(LogLevel::error, "coordinator", "store_failed",
               log_field("reason", record->stored.error().message));
      store_error_ = record->stored.error();
    }
  }
}

void Service::send(std::int64_t session, const CoordinatorMessage& message) {
  const auto found = connected_.find(session);
  if (found != connected_.end()) found->second.link->send(message);
}

void Service::forget(std::int64_t session) {
  const auto found = connected_.find(session);
  if (found == connected_.end()) return;
  session_of_.erase(found->second.agent);
  telemetry_.agent_left(session);
  connected_.erase(found);
}

void Service::carry_out(GrantLease& action) {
  const std::int64_t session = action.session;
  Lease& lease = action.lease;
  PendingGrant grant(session, lease.sweep, lease.point_id, lease.epoch);
  const auto holder = connected_.find(session);
  if (holder != connected_.end()) holder->second.label = point_label(lease.point);
  LeaseWrite record{lease.sweep, lease.point_id, lease.epoch,
                    holder == connected_.end() ? "" : holder->second.agent};
  pending_grants_.insert(grant);
  store(std::move(record), [this, grant = std::move(grant), session, lease = std::move(lease)] {
    // Cancelled meanwhile: the agent has never heard of it.
    if (pending_grants_.erase(grant) > 0) send(session, Grant{lease});
  });
}

void Service::carry_out(GrantGang& action) {
  const Lease& first = action.seats.front().lease;
  LeaseWrite record{first.sweep, first.point_id, first.epoch, ""};
  for (const GrantLease& seat : action.seats) {
    pending_grants_.emplace(seat.session, first.sweep, first.point_id, first.epoch);
    const auto holder = connected_.find(seat.session);
    if (holder == connected_.end()) continue;
    holder->second.label = point_label(first.point);
    record.agent += (record.agent.empty() ? "" : ", ") + holder->second.agent;
  }
  store(std::move(record), [this, seats = std::move(action.seats)] {
    for (const GrantLease& seat : seats) {
      const Lease& lease = seat.lease;
      const PendingGrant grant(seat.session, lease.sweep, lease.point_id, lease.epoch);
      if (pending_grants_.erase(grant) > 0) send(seat.session, Grant{lease});
    }
  });
}

void Service::carry_out(SendGo& action) { send(action.session, action.go); }

void Service::carry_out(StoreRow& action) {
  const RowStored stored{action.sweep, action.row.point_id};
  Row row = action.row;
  row.samples_us.clear();  // the store has them; what follows is done without
  row.counters.clear();
  auto then = [this, stored, row = std::move(row)]() mutable {
    telemetry_.row_stored(stored.sweep, row, unix_now_s());
    recent_rows_.add(stored.sweep, std::move(row));
    rates_[stored.sweep].count(Clock::now());
    apply(stored);
  };
  store(RowWrite{std::move(action.sweep), std::move(action.row)}, std::move(then));
}

void Service::carry_out(StoreAttempt& action) {
  AttemptWrite record{std::move(action.sweep),   std::move(action.point_id), action.epoch,
                      std::move(action.outcome), std::move(action.reason),   action.counts,
                      std::move(action.row)};
  store(std::move(record), [this, ack = std::move(action.ack)] {
    if (ack) send(ack->session, ack->ack);
  });
}

void Service::carry_out(SendAck& action) { send(action.session, action.ack); }

void Service::carry_out(SendCancel& action) {
  const Cancel& cancel = action.cancel;
  const PendingGrant grant(action.session, cancel.sweep, cancel.point_id, cancel.epoch);
  if (pending_grants_.erase(grant) == 0) send(action.session, cancel);
}

void Service::carry_out(DropAgent& action) {
  const auto found = connected_.find(action.session);
  if (found == connected_.end()) return;
  found->second.link->close(action.reason);
  forget(action.session);
}

void Service::carry_out(SweepFinished& action) { rates_.erase(action.sweep); }

void Service::carry_out(LogDecision& action) {
  log_line(action.level, "coordinator", action.event, action.details);
}

}  // namespace headsplit::coordinator
