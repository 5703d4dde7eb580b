#pragma once

#include <cstdint>
#include <string>

#include "core/gang.h"
#include "core/json.h"
#include "core/point.h"
#include "core/rank_problem.h"

namespace headsplit {

/// burst: sampled as the device comes from other work, at the clocks it reaches for a moment.
/// sustained: the kernel runs for a second first, until power and clocks have settled under it.
enum class MeasureMode { burst, sustained };
BOOST_DESCRIBE_ENUM(MeasureMode, burst, sustained)

/// How a point is measured; from the `measure` block of a sweep.
struct MeasureSettings {
  double min_time_ms = 30;       ///< the device samples for at least this long, evictions included
  double max_noise = 0.01;       ///< ... and until the relative spread of the median is below this
  double max_time_ms = 2000;     ///< ... but never longer than this
  bool counters = true;          ///< hardware counters, where the device has them
  bool counters_detail = false;  ///< the counters of the detail set too: more launches
  MeasureMode mode = MeasureMode::burst;
  int repeats = 1;  ///< times each point is measured, interleaved over the sweep

  bool operator==(const MeasureSettings&) const = default;
};
BOOST_DESCRIBE_STRUCT(MeasureSettings, (),
                      (min_time_ms, max_noise, max_time_ms, counters, counters_detail, mode,
                       repeats))

/// A point handed to an agent, or one rank of it to each agent of a gang.  (point_id, epoch) is the
/// attempt: the epoch grows with every grant of the point, so that whatever a stale holder sends
/// can be told apart and refused.
struct Lease {
  std::string point_id;
  std::int64_t epoch = 0;
  std::string sweep;
  Point point;
  RankProblem problem;  ///< of this rank
  MeasureSettings measure;
  std::uint64_t seed = 1;
  double deadline_s = 60;  ///< from the grant; the agent kills its worker before this passes.  In
                           ///< a gang it begins anew with the go.
  GangSeat gang;

  bool operator==(const Lease&) const = default;
};
BOOST_DESCRIBE_STRUCT(Lease, (),
                      (point_id, epoch, sweep, point, problem, measure, seed, deadline_s, gang))
HEADSPLIT_JSON_ELSEWHERE(Lease)

}  // namespace headsplit
