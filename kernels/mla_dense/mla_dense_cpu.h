#pragma once

#include <memory>

#include "core/result.h"
#include "kernels/kernel.h"

namespace headsplit::kernels {

/// Fails: config, when the cache is not bf16 or a size is not positive.
Result<void> mla_dense_cpu_supports(const RankProblem& shape);

/// The CPU kernel of mla_dense: multi-threaded, fp32 accumulation, SIMD chosen at run time.
/// Fails: config (not supported, or not enough memory).
Result<std::unique_ptr<BoundKernel>> bind_mla_dense_cpu(const Problem& problem,
                                                        const BindOptions& options);

}  // namespace headsplit::kernels
