#pragma once

#include <span>
#include <string>

#include "core/lease.h"

namespace headsplit::agent {

/// When to stop sampling: a pure rule over the samples so far, so that it is tested with numbers.
struct StopDecision {
  bool stop = false;
  std::string reason;     ///< why it stopped: "noise", "samples" or "time"
  int launches_next = 0;  ///< how many more to take before asking again
};

/// samples_us: one a launch, in order.  spent_us: what taking them cost, evictions included.  Stops
/// when at least kSamplesMin samples and min_time_ms of that cost are in and the noise of the
/// median is below max_noise; or when max_time_ms of it or kSamplesMax samples are used up. Source:
/// the stdrel criterion of nvbench, with the noise taken from the median's confidence interval
/// instead of the standard deviation.
StopDecision should_stop(std::span<const double> samples_us, double spent_us,
                         const MeasureSettings& settings);

constexpr int kSamplesMin = 5;
constexpr int kSamplesMax = 2000;

}  // namespace headsplit::agent
