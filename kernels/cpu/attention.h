#pragma once

#include <memory>

#include "core/result.h"
#include "kernels/kernel.h"

namespace headsplit::kernels {

/// Attention on the CPU, of mla_dense, per_head or mla_sparse problems: multi-threaded, fp32
/// accumulation, SIMD chosen at run time.  The problem must be one that the family's `supports`
/// takes. Fails: config (not enough memory).
Result<std::unique_ptr<BoundKernel>> bind_attention_cpu(const Problem& problem,
                                                        const BindOptions& options);

/// The same with the cache and the queries of another problem, of which `problem` is a view: the
/// same rows and slots, by other requests and pages.
Result<std::unique_ptr<BoundKernel>> bind_attention_cpu(const Problem& problem,
                                                        const Problem& inputs,
                                                        const BindOptions& options);

/// What both families ask of a shape.  kernel: for the message.
/// Fails: config (cache not bf16; context too long; a size not positive).
Result<void> attention_cpu_supports(const std::string& kernel, const RankProblem& shape);

}  // namespace headsplit::kernels
