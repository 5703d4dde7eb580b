#pragma once

#include "kernels/dsa_indexer/dsa_indexer_cuda.h"
#include "kernels/dsa_indexer/score_kernel.h"
#include "kernels/dsa_indexer/score_shape.h"
#include "kernels/split/gpu_limits.h"

namespace headsplit::kernels::indexer {

/// How scores are computed and selected.
struct Choice {
  ScoreKernel kernel;
  ScoreMemory memory;
  int stages = 2;
  int ctas = 1;    ///< that share out the tiles
  int groups = 1;  ///< of query tokens
  int select_ctas = 1;

  int shared_bytes() const { return memory.bytes(stages); }
};

/// Fails: config (the tuning does not fit this GPU).
Result<Choice> choose(const Problem& problem, const split::GpuLimits& limits, const Tuning& tuning);

}  // namespace headsplit::kernels::indexer
