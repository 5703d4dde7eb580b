#pragma once

#include <memory>

#include "core/point.h"
#include "core/result.h"

namespace headsplit::agent {

/// What a rank does between two moments at which all ranks are together.
enum class Step { attention, collective, sequence, overlapped };

/// One launch of a step: from when all ranks were together.
struct LaunchTime {
  double attention_us = 0;  ///< until this rank reached its collectives
  double total_us = 0;
};

/// The steps of one rank on its device.  Every rank of the gang makes the same calls.
class RankSteps {
 public:
  virtual ~RankSteps() = default;

  /// Waits for the other ranks, and times one launch.  cold: the last-level cache is evicted
  /// before.
  virtual Result<LaunchTime> launch(Step step, L2 l2) = 0;
};

}  // namespace headsplit::agent
