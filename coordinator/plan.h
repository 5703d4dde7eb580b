#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/sweep.h"
#include "core/lease.h"
#include "core/rank_problem.h"

namespace headsplit::coordinator {

/// What a plan says of a point before anything ran.
enum class PlannedState { pending, skipped };
BOOST_DESCRIBE_ENUM(PlannedState, pending, skipped)

/// One point of a plan, with all that a lease needs.
struct PlannedPoint {
  std::string id;  ///< point_id(point): unique within the plan
  Point point;
  RankProblem problem;            ///< what rank 0 executes
  std::int64_t memory_bytes = 0;  ///< that one rank needs for it
  MeasureSettings measure;
  PlannedState state = PlannedState::pending;
  std::string reason;  ///< why it is skipped: the bytes needed and available

  bool operator==(const PlannedPoint&) const = default;
};
BOOST_DESCRIBE_STRUCT(PlannedPoint, (), (id, point, problem, memory_bytes, measure, state, reason))

/// The ordered points of a sweep.  `id` names its content: files that mean the same sweep, however
/// they are written, have the same plan id, and so resume each other.
struct Plan {
  std::string id;
  std::string name;
  std::uint64_t seed = 1;
  Limits limits;
  GangOptions gang;     ///< of points with real ranks
  int hidden = 0;       ///< width of the model
  std::string content;  ///< the sweep as JSON text, canonical; sweep_from_yaml reads it back
  std::vector<PlannedPoint> points;

  bool operator==(const Plan&) const = default;
};
BOOST_DESCRIBE_STRUCT(Plan, (), (id, name, seed, limits, gang, hidden, content, points))

/// Why a point is skipped for its size: "needs 1234 bytes (1.23 kB) a rank; 1000 bytes ...".
std::string memory_reason(std::int64_t needed_bytes, std::int64_t available_bytes);

/// Expands a sweep.  Order: all points of repeat 0, then all of repeat 1, ...; within a repeat the
/// layouts of one cell (kernel, kv dtype, lengths, l2, context, query tokens, batch) are
/// neighbours, so that drift of the machine hits every layout alike.
/// memory_bytes: free on the agents that will run it, when known: points that need more are
/// planned as skipped, not dropped; so are points that leave a rank nothing to do (dp 8 of batch
/// 1). Fails: config (no points left after exclusions).
Result<Plan> make_plan(const Sweep& sweep, std::optional<std::int64_t> memory_bytes);

}  // namespace headsplit::coordinator
