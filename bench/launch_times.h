#pragma once

#include <vector>

#include "agent/device.h"
#include "kernels/kernel.h"

namespace headsplit::bench {

/// Median of what `request` times, in us.  Fails: as Device::time.
Result<double> median_us(agent::Device& device, kernels::BoundKernel& kernel,
                         const agent::TimeRequest& request);

/// Times of at least so many whole launches in us, L2 flushed before each, clocks settled: launches
/// behind a pause are up to 5 % slower at first, so short ones are timed twice, and those of the
/// second time count.  Fails: as Device::time.
Result<std::vector<double>> settled_samples_us(agent::Device& device, kernels::BoundKernel& kernel,
                                               int launches);

}  // namespace headsplit::bench
