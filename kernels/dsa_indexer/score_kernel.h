#pragma once

#include <span>

#include "kernels/dsa_indexer/arguments.h"

namespace headsplit::kernels::indexer {

/// A kernel that scores tokens.  Its launch: grid (CTAs that share out the tiles, groups of query
/// tokens), shared memory as ScoreMemory says.
struct ScoreKernel {
  const char* name = "";
  int heads = 64;  ///< index heads that it computes
  int query_row_bytes = 128;
  int threads = 128;
  int ctas_per_sm = 1;  ///< most that fit
  void (*function)(ScoreArguments) = nullptr;
};

/// By heads, ascending.  Compute capability 9.0.
std::span<const ScoreKernel> hopper_score_kernels();
/// Compute capability 8.0 and later.
std::span<const ScoreKernel> portable_score_kernels();

}  // namespace headsplit::kernels::indexer
