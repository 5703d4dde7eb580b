#pragma once

#include <vector>

#include "kernels/kernel.h"
#include "kernels/problem.h"

namespace headsplit::kernels {

/// KV tokens of one tile: a multiple of what the inner loops take at once, and small enough that
/// its fp32 copy (132 KiB for DeepSeek-V3's latents) stays in a second-level cache.
constexpr int kCpuTileTokens = 48;
/// Parts of a context end on multiples of this, so that neither kind of inner loop is left with a
/// broken tile.
constexpr int kCpuSplitTokens = 96;
/// Query rows of one item: enough that widening a tile costs nothing beside the products, few
/// enough that their sums stay in a second-level cache and a causal item ends where they do.
constexpr int kCpuItemRows = 512;

/// Query rows that read the same keys and values: the heads of one group, of some query tokens of
/// one request.
struct WorkItem {
  int index = 0;
  int request = 0;
  int kv_head = 0;
  int query_begin = 0;  ///< query tokens
  int query_end = 0;
};

/// One part of the context of one item: what a worker takes at a time.
struct SplitTask {
  WorkItem item;
  int token_begin = 0;
  int token_end = 0;
  std::int64_t partial_row = -1;  ///< first of its partial rows; -1: it is the whole item, and
                                  ///< writes the output
};

/// The partials of one item that was split.
struct CombineTask {
  WorkItem item;
  std::int64_t partial_row = 0;  ///< the first of the first
  int partial_count = 0;
};

struct CpuPlan {
  Config config;
  std::vector<SplitTask> splits;      ///< longest first
  std::vector<CombineTask> combines;  ///< items of more than one split
  std::int64_t partial_rows = 0;
};

/// KV heads of the attention that is computed: latents are one.
int cpu_kv_heads(const RankProblem& shape);

/// Query tokens of one item.
int cpu_item_tokens(const RankProblem& shape);

/// How `threads` workers share a problem.  num_splits: 0 = as many as keep all of them busy, else
/// each item is cut into exactly that many parts (fewer where it has fewer tiles).
CpuPlan plan_cpu(const Problem& problem, int threads, int num_splits);

}  // namespace headsplit::kernels
