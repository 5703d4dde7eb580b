#pragma once

#include <memory>

#include "core/result.h"
#include "kernels/dsa_indexer/indexer_kernel.h"

namespace headsplit::kernels {

/// Fails: config (indexer_kernel.h).
Result<void> dsa_indexer_cuda_supports(const RankProblem& shape);

/// The indexer on CUDA: Part::split scores all tokens, Part::combine selects the top_k, and starts
/// while the scores are finished.  Fails: config (not supported), cuda.
Result<std::unique_ptr<BoundKernel>> bind_dsa_indexer_cuda(const Problem& problem,
                                                           const BindOptions& options);

namespace indexer {

/// What tests and benchmarks fix; 0: chosen by shape and GPU.
struct Tuning {
  bool portable = false;  ///< the scores by mma.sync on Hopper, too
  int ctas_per_sm = 0;
  int stages = 0;
  int select_ctas = 0;  ///< of a row: 1, 2, 4 or 8; more than one needs compute capability 9.0
};

/// As above.
Result<std::unique_ptr<IndexerKernel>> bind_cuda(const Problem& problem, const BindOptions& options,
                                                 const Tuning& tuning);

}  // namespace indexer
}  // namespace headsplit::kernels
