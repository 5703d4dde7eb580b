#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/row.h"

namespace headsplit::coordinator {

/// Where a point stands.  done = its one row is stored, whatever the row's status.
enum class PointState { pending, running, done };
BOOST_DESCRIBE_ENUM(PointState, pending, running, done)

/// An attempt that ended without giving the point its row.
struct AttemptFailure {
  std::int64_t epoch = 0;
  std::string outcome;  ///< lost | expired | failed | invalid
  std::string reason;

  bool operator==(const AttemptFailure&) const = default;
};
BOOST_DESCRIBE_STRUCT(AttemptFailure, (), (epoch, outcome, reason))

/// Durable state of one point of a plan.
struct PointProgress {
  PointState state = PointState::pending;
  std::int64_t epoch = 0;                ///< of the latest attempt granted; 0 = never
  std::vector<AttemptFailure> failures;  ///< those that count against limits.attempts
  Status status = Status::failed;        ///< of the row, when done
  bool resumed = false;                  ///< done, by an earlier run of the sweep

  bool operator==(const PointProgress&) const = default;
};
BOOST_DESCRIBE_STRUCT(PointProgress, (), (state, epoch, failures, status, resumed))

/// How far one sweep is.  The counts by status are of durable rows.
struct SweepView {
  std::string id;
  std::string name;
  std::string backend;
  std::int64_t points = 0;
  std::int64_t pending = 0;
  std::int64_t running = 0;
  std::int64_t storing = 0;  ///< decided, not durable yet
  std::int64_t ok = 0;
  std::int64_t failed = 0;
  std::int64_t skipped = 0;
  std::int64_t cancelled = 0;
  std::int64_t resumed = 0;  ///< of the rows above, those of an earlier run

  std::int64_t done() const { return ok + failed + skipped + cancelled; }
  /// The count of rows of a status.
  std::int64_t& of_status(Status status);
  bool operator==(const SweepView&) const = default;
};
BOOST_DESCRIBE_STRUCT(SweepView, (),
                      (id, name, backend, points, pending, running, storing, ok, failed, skipped,
                       cancelled, resumed))

}  // namespace headsplit::coordinator
