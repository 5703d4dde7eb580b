#include "bench/launch_times.h"

#include "core/stats.h"

namespace headsplit::bench {
namespace {

/// Launches shorter than this are timed again: a batch of longer ones outlasts the settling.
constexpr double kShortUs = 200;

}  // namespace

Result<double> median_us(agent::Device& device, kernels::BoundKernel& kernel,
                         const agent::TimeRequest& request) {
  return quantile(TRY(device.time(kernel, request)).samples_us, 0.5);
}

Result<std::vector<double>> settled_samples_us(agent::Device& device, kernels::BoundKernel& kernel,
                                               int launches) {
  agent::Timed timed = TRY(device.time(kernel, {.launches = launches}));
  if (quantile(timed.samples_us, 0.5) < kShortUs) {
    timed = TRY(device.time(kernel, {.launches = launches}));
  }
  return std::move(timed.samples_us);
}

}  // namespace headsplit::bench
