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

}  // namespace headsplit::coordinator
