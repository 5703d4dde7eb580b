#include "bench/per_head_case.h"

#include <string>

#include "bench/launch_times.h"
#include "core/stats.h"
#include "kernels/verify.h"

namespace headsplit::bench {
namespace {

using agent::Device;
using kernels::Part;

constexpr int kLaunches = 20;
constexpr int kLaunchesOfParts = 6;
/// Rows that are compared with the reference.
constexpr std::int64_t kRowsChecked = 32;

kernels::Problem problem_of(const PerHeadCase& shape) {
  return kernels::make_problem(RankProblem{.local_heads = shape.heads,
                                           .kv_heads = shape.kv_heads,
                                           .batch = shape.batch,
                                           .query_tokens = shape.query_tokens,
                                           .context = shape.context,
                                           .d_rope = 0,
                                           .d_nope = shape.d_k,
                                           .d_v = shape.d_v,
                                           .family = Family::per_head},
                               1);
}

Result<double> verified(Device& device, kernels::BoundKernel& kernel,
                        const kernels::Problem& problem) {
  TRY(kernel.poison());
  TRY(kernel.launch(Part::all));
  const auto reference_rows = [&](const kernels::Problem& of, std::span<const std::int64_t> rows) {
    return device.reference_rows(of, rows);
  };
  const auto reference = TRY(kernels::make_reference(problem, kRowsChecked, reference_rows));
  return TRY(kernels::verify(kernel, problem, reference)).worst;
}

}  // namespace

Result<PerHeadResult> measure_per_head(Device& device, const PerHeadCase& shape) {
  const kernels::Problem problem = problem_of(shape);
  const auto kernel = TRY(device.bind(std::string(shape.kernel), problem));
  const double error = TRY(verified(device, *kernel, problem));
  const auto samples_us = TRY(settled_samples_us(device, *kernel, kLaunches));
  PerHeadResult result{.shape = shape,
                       .config = kernel->config(),
                       .time_us = quantile(samples_us, 0.5),
                       .time_p10_us = quantile(samples_us, 0.1),
                       .error_vs_reference = error};
  result.time_warm_us = TRY(median_us(device, *kernel, {Part::all, L2::warm, kLaunchesOfParts}));
  if (result.config.num_splits > 1) {
    result.combine_us =
        TRY(median_us(device, *kernel, {Part::combine, L2::cold, kLaunchesOfParts}));
  }
  const kernels::Work work = kernels::work(problem);
  result.tflops = work.flops / result.time_us * 1e-6;
  result.gbps = work.hbm_bytes() / result.time_us * 1e-3;
  return result;
}

}  // namespace headsplit::bench
