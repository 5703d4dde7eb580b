#pragma once

#include <memory>

#include "core/result.h"
#include "kernels/kernel.h"

namespace headsplit::kernels {

/// Fails: config, as check_per_head_shape (shape.h), and when the cache is not bf16.
Result<void> per_head_cpu_supports(const RankProblem& shape);

/// The CPU kernel of mha_decode, gqa_decode, mqa_decode and mla_expanded: query heads of a group
/// and query tokens are packed into rows.  Fails: config (not supported, or not enough memory).
Result<std::unique_ptr<BoundKernel>> bind_per_head_cpu(const Problem& problem,
                                                       const BindOptions& options);

}  // namespace headsplit::kernels
