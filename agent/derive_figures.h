#pragma once

#include "core/ceilings.h"
#include "core/row.h"
#include "kernels/kernel.h"
#include "kernels/problem.h"

namespace headsplit::agent {

/// The row's times from its samples: median, quantiles, noise, interval of the median.
void summarise_samples(Row& row);

/// Fills a timed row with what follows from its time, its work and the device's ceilings: rates,
/// intensity by formula and by counters, roofline fraction and limiter.
///   roofline fraction = max(flops / matmul ceiling, HBM bytes / read ceiling) / time
/// The limiter is the resource of which the launch used the largest share: memory and tensor by
/// their ceilings (counted bytes and operations, padding included, where there are any), and for an
/// FP8 cache dequantisation, by the issue slots of the CUDA cores where these were counted (softmax
/// and addresses are in them); `overhead` when none reaches half.
/// What multiplies e4m3 has the FP8 matmul as its ceiling, and converts nothing.
void derive_figures(const kernels::Work& work, const Ceilings& ceilings,
                    kernels::Arithmetic arithmetic, Row& row);

}  // namespace headsplit::agent
