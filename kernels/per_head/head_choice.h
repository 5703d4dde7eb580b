#pragma once

#include <string>
#include <vector>

#include "kernels/per_head/head_kernel.h"
#include "kernels/problem.h"
#include "kernels/split/gpu_limits.h"
#include "kernels/split/split_plan.h"

namespace headsplit::kernels::per_head {

/// A kernel as this GPU runs it.
struct Choice {
  HeadKernel kernel;  ///< ctas_per_sm: as many as find room
  int stages = 0;
  std::string reason;
};

/// A split kernel and what its CTAs do.
struct PlannedSplit {
  Choice choice;
  split::SplitPlan plan;
};

/// Packed rows of each request and KV head: query tokens x query heads of a KV head.
int packed_rows(const RankProblem& shape);

/// All kernels of this build; those before others are preferred.
std::vector<HeadKernel> head_kernels();

/// The kernels for this problem that this GPU runs and has the shared memory for, in that order.
std::vector<Choice> runnable_kernels(const Problem& problem, const split::GpuLimits& limits);

/// The first of them with the cheapest plan, or with a fixed number of splits (0: free).
/// Fails: config (no kernel for the widths fits the GPU).
Result<PlannedSplit> choose_plan(const Problem& problem, const split::GpuLimits& limits,
                                 int num_splits);

}  // namespace headsplit::kernels::per_head
