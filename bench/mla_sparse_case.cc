#include "bench/mla_sparse_case.h"

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
constexpr std::int64_t kRowsChecked = 24;
/// Below this share of both ceilings neither holds the kernel back (as agent/derive_figures.cc).
constexpr double kLimiterShareMin = 0.5;

void put_beside_ceilings(const kernels::Work& work, const Ceilings& ceilings,
                         MlaSparseResult& result) {
  result.tflops = work.flops / result.time_us * 1e-6;
  result.gbps = work.hbm_bytes() / result.time_us * 1e-3;
  if (!ceilings.read_gbps || !ceilings.bf16_tflops) return;
  const double memory = result.gbps / *ceilings.read_gbps;
  const double tensor = result.tflops / *ceilings.bf16_tflops;
  result.roofline_fraction = std::max(memory, tensor);
  result.limiter = memory >= tensor ? Limiter::memory : Limiter::tensor;
  if (result.roofline_fraction < kLimiterShareMin) result.limiter = Limiter::overhead;
}

}  // namespace

Result<MlaSparseResult> measure_mla_sparse(Device& device, const Ceilings& ceilings,
                                           const MlaSparseCase& shape) {
  const kernels::Problem problem =
      kernels::make_problem(RankProblem{.local_heads = shape.local_heads,
                                        .batch = shape.batch,
                                        .query_tokens = shape.query_tokens,
                                        .context = shape.context,
                                        .kv_dtype = shape.kv_dtype,
                                        .family = Family::mla_sparse,
                                        .top_k = shape.top_k},
                            1);
  const auto kernel = TRY(device.bind("mla_sparse", problem));
  TRY(kernel->poison());
  TRY(kernel->launch(Part::all));
  const auto reference_rows = [&](const kernels::Problem& of, std::span<const std::int64_t> rows) {
    return device.reference_rows(of, rows);
  };
  const auto reference = TRY(kernels::make_reference(problem, kRowsChecked, reference_rows));
  const auto verified = TRY(kernels::verify(*kernel, problem, reference));
  MlaSparseResult result{
      .shape = shape, .config = kernel->config(), .error_vs_reference = verified.worst};
  result.time_us = quantile(TRY(settled_samples_us(device, *kernel, kLaunches)), 0.5);
  result.time_warm_us = TRY(median_us(device, *kernel, {Part::all, L2::warm, kLaunchesOfParts}));
  if (result.config.num_splits > 1) {
    result.split_us = TRY(median_us(device, *kernel, {Part::split, L2::cold, kLaunchesOfParts}));
    result.combine_us =
        TRY(median_us(device, *kernel, {Part::combine, L2::cold, kLaunchesOfParts}));
  }
  put_beside_ceilings(kernels::work(problem), ceilings, result);
  return result;
}

}  // namespace headsplit::bench
