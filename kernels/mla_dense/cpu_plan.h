#pragma once

#include <vector>

#include "kernels/kernel.h"
#include "kernels/problem.h"

namespace headsplit::kernels {

/// KV tokens of one tile: a multiple of what the inner loops take at once, and small enough that
/// its fp32 copy (132 KiB for DeepSeek-V3) stays in a second-level cache.
constexpr int kCpuTileTokens = 48;
/// Parts of a context end on multiples of this, so that neither kind of inner loop is left with a
/// broken tile.
constexpr int kCpuSplitTokens = 96;

/// One part of one request's context: what a worker takes at a time.
struct SplitTask {
  int request = 0;
  int token_begin = 0;
  int token_end = 0;
  int partial =
      -1;  ///< which partial it writes; -1: it is the whole request, and writes the output
};

/// The partials of one request that was split.
struct CombineTask {
  int request = 0;
  int partial_begin = 0;
  int partial_count = 0;
};

struct CpuPlan {
  Config config;
  std::vector<SplitTask> splits;      ///< longest first
  std::vector<CombineTask> combines;  ///< requests of more than one split
  int partial_count = 0;
};

/// How `threads` workers share a problem.  num_splits: 0 = as many as keep all of them busy, else
/// each request is cut into exactly that many parts (fewer where it has fewer tiles).
CpuPlan plan_cpu(const Problem& problem, int threads, int num_splits);

}  // namespace headsplit::kernels
