#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "coordinator/finished_sweep.h"
#include "coordinator/plan.h"
#include "coordinator/progress.h"
#include "core/row.h"

namespace headsplit::coordinator {

/// An attempt is granted: raises the point's epoch.  From a GrantLease action.
struct LeaseWrite {
  std::string sweep;  ///< plan id
  std::string point_id;
  std::int64_t epoch = 0;
  std::string agent;
};
/// The one row of a point.  From a StoreRow action.
struct RowWrite {
  std::string sweep;
  Row row;
};
/// An attempt that did not give the point its row.  From a StoreAttempt action.
struct AttemptWrite {
  std::string sweep;
  std::string point_id;
  std::int64_t epoch = 0;
  std::string outcome;
  std::string reason;
  bool counts = false;
  std::optional<Row> row;
};
using StoreWrite = std::variant<LeaseWrite, RowWrite, AttemptWrite>;

/// A sweep as the store has it, ready for SweepSubmitted.
struct StoredSweep {
  std::shared_ptr<const Plan> plan;     ///< of points that are done: ids only
  std::vector<PointProgress> progress;  ///< by position in plan->points
  std::string backend;
  int run = 1;  ///< 1 = new; more: resumed, and rows of earlier runs are marked `resumed`
};

/// What a restart finds, oldest first: sweeps with open points, each begun as a new run, and the
/// newest of those that ended.
struct RestoredSweeps {
  std::vector<StoredSweep> open;
  std::vector<std::shared_ptr<const FinishedSweep>> finished;
};

/// The durable half of the coordinator: one SQLite file (WAL, synchronous=FULL), one writer thread,
/// group commit.  What a completion reports as written survives kill -9 and a power loss.
///
/// Threads: `write`, `begin_sweep` and `queued` may be called from any thread and never wait for
/// the disk.  Completions run on the writer thread, in order of submission, after the commit; they
/// must be short and must not throw.  A coroutine server posts from them to its own executor:
///   store.write(std::move(row), [&io, ...](Result<void> stored) { asio::post(io, ...); });
/// After a failed commit (disk full, file gone) every later write fails with the same error: the
/// caller stops, and a restart goes on from what is durable.
class Store {
 public:
  using Done = std::function<void(Result<void>)>;
  using SweepDone = std::function<void(Result<StoredSweep>)>;

  /// Opens, or makes, a database; one writer a file (a second one is refused).
  /// Fails: io, one line with the path (no such folder, not writable, on a network file system, in
  /// use by another coordinator, not a database, of another program, corrupt, of a newer schema).
  static Result<std::unique_ptr<Store>> open(const std::string& path);

  /// Waits for what is queued, then closes.
  ~Store();

  void write(StoreWrite record, Done done);

  /// A record and who waits for it.
  struct Write {
    StoreWrite record;
    Done done;
  };
  /// Several at once, in order: they need not wait for each other's commit.
  void write(std::vector<Write> records);

  /// Stores a plan whole, in one transaction, with the rows of its skipped points; or, when a
  /// sweep of the same plan id is there, begins its next run: what is done stays done, cancelled
  /// points are open again, and running ones wait again.  A sweep that is unfinished and was begun
  /// or restored by this object already is joined: no new run.
  void begin_sweep(Plan plan, std::string backend, SweepDone done);

  /// Sweeps of earlier processes, of finished ones the newest 16, so that a report sent again after
  /// a restart gets the same answer as before.  Give all of them to the scheduler.  Reads no rows,
  /// and of points that are done only their ids: a million points take a second or two.  Blocks;
  /// call once, before serving.
  Result<RestoredSweeps> restore();

  /// Records handed in and not yet durable: the measure of back-pressure.
  std::size_t queued() const;

 private:
  class Writer;
  explicit Store(std::unique_ptr<Writer> writer);
  std::unique_ptr<Writer> writer_;
};

/// Which rows to read; an empty member does not restrict.
struct RowFilter {
  std::string sweep;  ///< name or plan id
  std::optional<Status> status;
  std::string kernel;
  std::string layout;
  std::string point_id;
};

/// One sweep of a database.
struct SweepSummary {
  std::string id;
  std::string name;
  std::string backend;
  int run = 1;
  double created_unix_s = 0;
  std::int64_t points = 0;
  std::int64_t ok = 0;
  std::int64_t failed = 0;
  std::int64_t skipped = 0;
  std::int64_t cancelled = 0;

  bool finished() const { return ok + failed + skipped + cancelled == points; }
  bool operator==(const SweepSummary&) const = default;
};
BOOST_DESCRIBE_STRUCT(SweepSummary, (),
                      (id, name, backend, run, created_unix_s, points, ok, failed, skipped,
                       cancelled))

/// One point of a sweep and where it stands.
struct PointSummary {
  std::string id;
  std::string label;
  PointState state = PointState::pending;
  std::int64_t epoch = 0;
  int attempts = 0;              ///< that counted against limits.attempts
  std::optional<Status> status;  ///< of its row

  bool operator==(const PointSummary&) const = default;
};
BOOST_DESCRIBE_STRUCT(PointSummary, (), (id, label, state, epoch, attempts, status))

/// Read side: a connection of its own, read-only, while a coordinator writes or after it ended;
/// works in other processes and on files in folders that cannot be written.  Blocking, one thread.
class StoreReader {
 public:
  /// Fails: io, as Store::open (no such file; readers need no lock).
  static Result<std::unique_ptr<StoreReader>> open(const std::string& path);

  ~StoreReader();

  /// Rows in plan order, sweep after sweep, `resumed` set on those of an earlier run.
  Result<std::vector<Row>> rows(const RowFilter& filter);
  Result<std::vector<SweepSummary>> sweeps();
  /// The sweep as JSON text, as its plan holds it; none when there is no such plan id.
  Result<std::optional<std::string>> content(const std::string& sweep);
  /// sweep: plan id.  In plan order.
  Result<std::vector<PointSummary>> points(const std::string& sweep);

 private:
  class Connection;
  explicit StoreReader(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace headsplit::coordinator
