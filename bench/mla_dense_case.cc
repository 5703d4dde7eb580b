#include "bench/mla_dense_case.h"

#include <algorithm>

#include "bench/launch_times.h"
#include "core/stats.h"
#include "kernels/verify.h"

namespace headsplit::bench {
namespace {

using agent::Device;
using kernels::Part;

constexpr int kLaunches = 24;
constexpr int kLaunchesOfParts = 6;
/// Tokens that the fp64 reference may go over for one case.
constexpr std::int64_t kReferenceTokens = 32'768;

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
  const auto samples_us = TRY(settled_samples_us(device, *kernel, kLaunches));
  MlaDenseResult result{.shape = shape,
                        .config = kernel->config(),
                        .time_us = quantile(samples_us, 0.5),
                        .time_p10_us = quantile(samples_us, 0.1),
                        .error_vs_reference = verified.worst};
  result.time_warm_us = TRY(median_us(device, *kernel, {Part::all, L2::warm, kLaunchesOfParts}));
  if (result.config.num_splits > 1) {
    result.split_us = TRY(median_us(device, *kernel, {Part::split, L2::cold, kLaunchesOfParts}));
    result.combine_us =
        TRY(median_us(device, *kernel, {Part::combine, L2::cold, kLaunchesOfParts}));
  }
  const kernels::Work work = kernels::work(problem);
  result.tflops = work.flops / result.time_us * 1e-6;
  result.gbps = work.hbm_bytes() / result.time_us * 1e-3;
  return result;
}

}  // namespace headsplit::bench
