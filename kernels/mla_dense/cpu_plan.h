#pragma once

#include <vector>

#include "kernels/kernel.h"
#include "kernels/problem.h"

namespace headsplit::kernels {

/// KV tokens that one pass of the CPU kernel converts and multiplies; splits end on its multiples.
constexpr int kCpuTileTokens = 64;

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
