#pragma once

#include <string>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/mla_dense/split_kernel.h"
#include "kernels/problem.h"
#include "kernels/split/gpu_limits.h"

namespace headsplit::kernels::dense {

using split::GpuLimits;
using split::is_hopper;

struct Choice {
  SplitKernel kernel;
  int stages = 0;
  std::string reason;
};

/// The kernels for these widths, this type of cache and this arithmetic; empty when there are none.
std::vector<SplitKernel> split_kernels_of(const RankProblem& shape,
                                          Arithmetic arithmetic = Arithmetic::stored);

/// Why a shape has none, with what is legal: types of cache, or widths ("512 + 64, 512 + 0, 256 +
/// 32" for mla_dense in bf16).
Error no_such_kernel(const RankProblem& shape, Arithmetic arithmetic = Arithmetic::stored);

/// The kernels for these widths that this GPU runs and has the shared memory for.
std::vector<Choice> runnable_kernels(const RankProblem& shape, const GpuLimits& limits,
                                     Arithmetic arithmetic = Arithmetic::stored);

/// The smallest tile that takes all packed rows of a request, else the largest one, among those
/// that this GPU runs and has the shared memory for; wgmma before mma.sync, then the longest step.
/// Fails: config (no instantiation fits such a GPU).
Result<Choice> choose_kernel(const RankProblem& shape, const GpuLimits& limits,
                             Arithmetic arithmetic = Arithmetic::stored);

}  // namespace headsplit::kernels::dense
