#include "agent/stopping.h"

#include <algorithm>
#include <cmath>

#include "core/stats.h"

namespace headsplit::agent {
namespace {

/// Launches that fill the time still missing, no more than double what is there already: an early
/// estimate from few samples must not commit the device for long.
int next_batch(std::size_t taken, double spent_us, double missing_us) {
  if (taken < kSamplesMin) return kSamplesMin - static_cast<int>(taken);
  const double each_us = std::max(spent_us / static_cast<double>(taken), 1e-3);
  const double wanted = std::ceil(missing_us / each_us);
  return static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(taken)));
}

}  // namespace

StopDecision should_stop(std::span<const double> samples_us, double spent_us,
                         const MeasureSettings& settings) {
  const std::size_t taken = samples_us.size();
  if (taken >= kSamplesMax) return {.stop = true, .reason = "samples"};
  if (taken > 0 && spent_us >= settings.max_time_ms * 1e3) return {.stop = true, .reason = "time"};
  if (taken < kSamplesMin) return {.launches_next = next_batch(taken, spent_us, 0)};
  const double missing_us = settings.min_time_ms * 1e3 - spent_us;
  if (missing_us > 0) return {.launches_next = next_batch(taken, spent_us, missing_us)};
  if (summarise(samples_us).noise <= settings.max_noise) return {.stop = true, .reason = "noise"};
  return {.launches_next = next_batch(taken, spent_us, spent_us / 2)};
}

}  // namespace headsplit::agent
