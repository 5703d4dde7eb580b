#pragma once

#include "kernels/mla_dense/split_choice.h"
#include "kernels/split/split_plan.h"

namespace headsplit::kernels::dense {

using split::plan_splits;
using split::SplitPlan;

/// A split kernel and what its CTAs do.
struct PlannedSplit {
  Choice choice;
  SplitPlan plan;
};

/// The kernel and the plan that are done first by the costs, which are those of Hopper: other GPUs
/// get the kernel for the rows (choose_kernel), as does a fixed number of splits, so that what a
/// request gets does not depend on the batch.
/// Fails: config (no kernel for the widths fits the GPU).
Result<PlannedSplit> choose_plan(const Problem& problem, const GpuLimits& limits, int num_splits,
                                 Arithmetic arithmetic = Arithmetic::stored);

}  // namespace headsplit::kernels::dense
