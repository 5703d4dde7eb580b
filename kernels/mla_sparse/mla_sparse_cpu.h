#pragma once

#include <memory>

#include "core/result.h"
#include "kernels/kernel.h"

namespace headsplit::kernels {

/// Top-k sparse MLA decode on the CPU: mla_dense's loops on the listed tokens, bf16 cache.  Which
/// entries of the lists count is looked up when the kernel is bound.
/// Fails: config (another family, a size or a cache type that it does not take; out of memory).
Result<void> mla_sparse_cpu_supports(const RankProblem& shape);
Result<std::unique_ptr<BoundKernel>> bind_mla_sparse_cpu(const Problem& problem,
                                                         const BindOptions& options);

}  // namespace headsplit::kernels
