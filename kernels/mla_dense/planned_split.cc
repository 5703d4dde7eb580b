#include "kernels/mla_dense/planned_split.h"

#include <utility>

namespace headsplit::kernels::dense {
namespace {

/// Another kernel than the one for the rows must be done that much earlier: costs are estimates.
constexpr double kWorthAnother = 0.95;

PlannedSplit planned(const Problem& problem, const GpuLimits& limits, Choice choice,
                     int num_splits) {
  const SplitKernel& kernel = choice.kernel;
  SplitPlan plan =
      plan_splits(problem, {.rows_max = kernel.rows,
                            .tile_tokens = kernel.tokens,
                            .ctas = limits.sm_count * kernel.ctas_per_sm,
                            .ctas_per_sm = kernel.ctas_per_sm,
                            .num_splits = num_splits,
                            .cost = {.step_us = kernel.step_us,
                                     .alone_step_us = kernel.alone_step_us,
                                     .item_us = kernel.item_us,
                                     .start_us = kernel.start_us,
                                     .cache_bytes_per_us = kernel.cache_bytes_per_us}});
  return {std::move(choice), std::move(plan)};
}

}  // namespace

Result<PlannedSplit> choose_plan(const Problem& problem, const GpuLimits& limits, int num_splits,
                                 Arithmetic arithmetic) {
  PlannedSplit best =
      planned(problem, limits, TRY(choose_kernel(problem.shape, limits, arithmetic)), num_splits);
  if (num_splits > 0 || !is_hopper(limits)) return best;
  double best_us = best.plan.estimated_us * kWorthAnother;
  for (Choice& choice : runnable_kernels(problem.shape, limits, arithmetic)) {
    PlannedSplit other = planned(problem, limits, std::move(choice), num_splits);
    if (other.plan.estimated_us >= best_us) continue;
    best_us = other.plan.estimated_us;
    best = std::move(other);
  }
  return best;
}

}  // namespace headsplit::kernels::dense
