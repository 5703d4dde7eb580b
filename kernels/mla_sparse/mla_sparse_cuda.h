#pragma once

#include <memory>

#include "core/result.h"
#include "kernels/kernel.h"

namespace headsplit::kernels {

/// Top-k sparse MLA decode on a GPU: mla_dense's kernels with rows of the cache gathered by an
/// index list of each query token, so that packed rows are the heads of one query token. Fails:
/// config (another family; heads, top_k or widths that there is no kernel for).
Result<void> mla_sparse_cuda_supports(const RankProblem& shape);
/// Fails: config (as above; the GPU is too old), cuda.
Result<std::unique_ptr<BoundKernel>> bind_mla_sparse_cuda(const Problem& problem,
                                                          const BindOptions& options);

}  // namespace headsplit::kernels
