#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "coordinator/finished_sweep.h"
#include "coordinator/plan.h"
#include "coordinator/progress.h"
#include "coordinator/quarantine.h"
#include "core/log.h"
#include "core/message.h"

/// Who runs what, decided in one place: `step(event, now) -> actions`.  No I/O, no clock, no
/// threads; the same events give the same actions, so thousands of schedules run in one test.
namespace headsplit::coordinator {

using TimePoint = std::chrono::steady_clock::time_point;

// ---- Events: what happened -----------------------------------------------------------------

/// A plan is in the store.  progress: durable state of plan.points, by position; empty = all
/// fresh.  A point that was `running` goes back to pending with its epoch kept.  backend: only
/// agents of it get points of this sweep; empty = any.  Submitting a sweep that is queued already
/// changes nothing.
struct SweepSubmitted {
  std::shared_ptr<const Plan> plan;
  std::vector<PointProgress> progress;
  std::string backend;
};
/// A connection said hello.  session: never used before.
struct AgentJoined {
  std::int64_t session = 0;
  AgentInfo agent;
};
/// A connection ended; reason: for logs and rows ("connection closed").
struct AgentLost {
  std::int64_t session = 0;
  std::string reason;
};
/// A connection spoke.  Any message counts as a sign of life; a report needs no AgentSpoke.
/// spool_full: as its heartbeat says; without a heartbeat nothing is known of it.
struct AgentSpoke {
  std::int64_t session = 0;
  std::optional<bool> spool_full;
};
/// An agent reports the outcome of a lease; row.sweep is the lease's sweep.
struct RowReported {
  std::int64_t session = 0;
  Row row;
};
/// A rank of a gang is prepared and waits for the go.
struct RankReady {
  std::int64_t session = 0;
  Ready ready;
};
/// The row of a StoreRow action is durable.
struct RowStored {
  std::string sweep;
  std::string point_id;
};
/// Time passed.  Send one every 0.2 s or so: deadlines and silence are found here.
struct Tick {};
/// A sweep that ended under an earlier process: reports that are sent again get their answers.
struct SweepRecalled {
  std::shared_ptr<const FinishedSweep> sweep;
};
/// Somebody no longer wants this sweep: its open points end as cancelled.
struct SweepCancelled {
  std::string sweep;
  std::string reason;
};
/// The coordinator is going down: nothing more is granted, agents are told to stop, and what was
/// running is pending again at the next start.  Rows that still come are taken.
struct ShutdownBegun {};

using Event = std::variant<SweepSubmitted, SweepRecalled, AgentJoined, AgentLost, AgentSpoke,
                           RowReported, RankReady, RowStored, Tick, SweepCancelled, ShutdownBegun>;

// ---- Actions: what the caller must do, in order ----------------------------------------------

/// Store that the attempt was granted (LeaseWrite), and only when that is durable send the lease
/// to the session, if it is still there.
struct GrantLease {
  std::int64_t session = 0;
  Lease lease;  ///< lease.sweep is the plan's id
};
/// The same for the agents of a gang: one record makes the attempt durable, then each rank gets
/// its lease.
struct GrantGang {
  std::vector<GrantLease> seats;  ///< by rank; the same sweep, point and epoch in all
};
/// Every rank of a gang is ready: send each its go.
struct SendGo {
  std::int64_t session = 0;
  Go go;
};
/// Store the one row of a point (RowWrite), then give the scheduler RowStored.
struct StoreRow {
  std::string sweep;  ///< plan id; row.sweep is the sweep's name, for people
  Row row;
};
/// Answer a report.
struct SendAck {
  std::int64_t session = 0;
  Ack ack;
};
/// Store that an attempt ended without giving the point its row (AttemptWrite); when that is
/// durable send `ack`, if there is one.  No event follows.
struct StoreAttempt {
  std::string sweep;
  std::string point_id;
  std::int64_t epoch = 0;
  std::string outcome;  ///< lost | expired | failed | invalid | cancelled | stale
  std::string reason;
  bool counts = false;     ///< against limits.attempts
  std::optional<Row> row;  ///< what was reported, if anything
  std::optional<SendAck> ack;
};
/// Tell an agent to stop an attempt and forget it; the next lease may follow at once.
struct SendCancel {
  std::int64_t session = 0;
  Cancel cancel;
};
/// Close a connection: it was silent, or held a lease past its deadline.  An agent that is alive
/// joins again.  AgentLost need not follow, and may.
struct DropAgent {
  std::int64_t session = 0;
  std::string reason;
};
/// Every point of the sweep has its row, durably.
struct SweepFinished {
  std::string sweep;
};
/// A decision worth a line in the log.
struct LogDecision {
  LogLevel level = LogLevel::info;
  std::string event;
  std::string details;
};

using Action = std::variant<GrantLease, GrantGang, SendGo, StoreRow, StoreAttempt, SendAck,
                            SendCancel, DropAgent, SweepFinished, LogDecision>;

struct SchedulerSettings {
  double silence_limit_s = 10;  ///< after this much silence an agent counts as lost
  double deadline_grace_s = 5;  ///< a lease expires this long after the agent should have stopped
  /// A gang that needs more agents than are connected is skipped after so long without a new one.
  double gang_patience_s = 30;
  /// A packed gang is spread over nodes, where none is large enough, when no agent came for so
  /// long: while a launcher still starts agents, their node may yet be complete.
  double gang_settle_s = 1;
  QuarantineSettings quarantine;
};

// ---- Views: for status, metrics and tests ----------------------------------------------------

struct AgentView {
  std::int64_t session = 0;
  AgentInfo agent;
  std::string working_on;  ///< point id, or empty when idle
  std::string held_back;   ///< why it gets no more work; empty when it may

  bool operator==(const AgentView&) const = default;
};
BOOST_DESCRIBE_STRUCT(AgentView, (), (session, agent, working_on, held_back))

/// Totals since the scheduler was made; only ever grow.
struct SchedulerTotals {
  std::int64_t granted = 0;
  std::int64_t accepted = 0;
  std::int64_t duplicate = 0;
  std::int64_t stale = 0;
  std::int64_t invalid = 0;
  std::int64_t expired = 0;    ///< leases whose deadline passed
  std::int64_t lost = 0;       ///< leases whose agent went away
  std::int64_t retried = 0;    ///< attempts that failed and were given back to the queue
  std::int64_t drained = 0;    ///< nodes put in quarantine
  std::int64_t condemned = 0;  ///< points that failed on several nodes and were ended

  bool operator==(const SchedulerTotals&) const = default;
};
BOOST_DESCRIBE_STRUCT(SchedulerTotals, (),
                      (granted, accepted, duplicate, stale, invalid, expired, lost, retried,
                       drained, condemned))

/// The rules:
/// - Sweeps are served first in, first out; an agent that the first cannot use serves the next.
/// - Each grant of a point raises its epoch.  A report is taken when its epoch is the point's
///   latest and the point has no row; the same epoch again is `duplicate`, another is `stale`, and
///   what the plan does not know is `invalid`.
/// - An attempt whose agent is lost, whose deadline passes, that fails with `retryable`, or whose
///   report does not match the plan, counts against limits.attempts; then the point waits again,
///   behind points that failed less.  When the attempts are used up the point's row is `failed`
///   and lists the reasons.
/// - A node on which several points fail in a row gets no work for a while (Quarantine), as long as
///   another node can do it; a point that fails on several nodes is `failed` at once, and then
///   counts against none of them.  An agent whose spool is full gets no work either.
/// - A late report of a lost or expired attempt is taken as long as the point was not granted anew.
/// - Rows that the scheduler makes itself (failed, skipped, cancelled) have an epoch of their own,
///   above every one granted, so that no report can pass for them.
/// - A point with real ranks is run by a gang: an agent a rank, taken all at once or not at all.
///   The first waiting gang that could be formed of the connected agents keeps the idle ones that
///   may belong to it from everything behind it, so it is served before long, and as only one gang
///   does so no two wait for each other.
/// - A gang has two phases: every rank prepares and says it is ready, then all are told to go.  Its
///   row is made of the parts of all ranks, or is not made.  A rank that is lost, late or fails
///   ends the attempt for all.
/// - A point that needs more memory than any agent that could run it is `skipped`.
/// Not thread-safe.
class Scheduler {
 public:
  explicit Scheduler(SchedulerSettings settings = {});
  ~Scheduler();
  Scheduler(Scheduler&&) noexcept;
  Scheduler& operator=(Scheduler&&) noexcept;

  std::vector<Action> step(const Event& event, TimePoint now);

  std::vector<SweepView> sweeps() const;  ///< in order of submission, finished ones included
  std::vector<AgentView> agents() const;  ///< by session
  const SchedulerTotals& totals() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace headsplit::coordinator
