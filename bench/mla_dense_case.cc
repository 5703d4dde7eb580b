#include "bench/mla_dense_case.h"

#include <algorithm>

#include "core/stats.h"
#include "kernels/verify.h"

namespace headsplit::bench {
namespace {

using agent::Device;
using agent::Timed;
using kernels::Part;

constexpr int kLaunches = 24;
constexpr int kLaunchesOfParts = 6;
/// Launches shorter than this are timed again: the first ones behind a pause are up to 5 % slower,
/// as clocks are still on their way.
constexpr double kShortUs = 200;
/// Tokens that the fp64 reference may go over for one case.
constexpr std::int64_t kReferenceTokens = 32'768;

Result<double> median_us(Device& device, kernels::BoundKernel& kernel, Part part, L2 l2) {
  return quantile(TRY(device.time(kernel, {part, l2, kLaunchesOfParts})).samples_us, 0.5);
}

Result<std::vector<double>> settled_samples_us(Device& device, kernels::BoundKernel& kernel) {
  Timed timed = TRY(device.time(kernel, {.launches = kLaunches}));
  if (quantile(timed.samples_us, 0.5) < kShortUs) {
    timed = TRY(device.time(kernel, {.launches = kLaunches}));
  }
  return std::move(timed.samples_us);
}

}  // namespace

Result<MlaDenseResult> measure_mla_dense(Device& device, const MlaDenseCase& shape) {
  const kernels::Problem problem =
      kernels::make_problem(RankProblem{.local_heads = shape.local_heads,
                                        .batch = shape.batch,
                                        .query_tokens = shape.query_tokens,
                                        .context = shape.context,
                                        .kv_dtype = shape.kv_dtype},
                            1);
  const auto kernel = TRY(device.bind(shape.kernel, problem));
  TRY(kernel->poison());
  TRY(kernel->launch(Part::all));
  const auto verified = TRY(kernels::verify(
      *kernel, problem, std::max<std::int64_t>(1, kReferenceTokens / shape.context)));
  const auto samples_us = TRY(settled_samples_us(device, *kernel));
  MlaDenseResult result{.shape = shape,
                        .config = kernel->config(),
                        .time_us = quantile(samples_us, 0.5),
                        .time_p10_us = quantile(samples_us, 0.1),
                        .error_vs_reference = verified.worst};
  result.time_warm_us = TRY(median_us(device, *kernel, Part::all, L2::warm));
  if (result.config.num_splits > 1) {
    result.split_us = TRY(median_us(device, *kernel, Part::split, L2::cold));
    result.combine_us = TRY(median_us(device, *kernel, Part::combine, L2::cold));
  }
  const kernels::Work work = kernels::work(problem);
  result.tflops = work.flops / result.time_us * 1e-6;
  result.gbps = work.hbm_bytes() / result.time_us * 1e-3;
  return result;
}

}  // namespace headsplit::bench
