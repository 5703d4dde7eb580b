#pragma once

#include <memory>

#include "kernels/kernel.h"

namespace headsplit::kernels {

/// Attention over keys and values of each KV head on CUDA, sm_80 and later (docs/per-head.md): MHA,
/// GQA, MQA and expanded MLA; bf16 caches in pages of 16, 32, 64 or 128 tokens, keys and values of
/// 64 to 256 in multiples of 16, ragged lengths, any number of query tokens.
Result<void> per_head_cuda_supports(const RankProblem& shape);

/// Makes the inputs on the current device and plans the launch.  Waits for the device.
/// Fails: config (unsupported shape or page size, no tiles fit), cuda (no GPU, out of memory).
Result<std::unique_ptr<BoundKernel>> bind_per_head_cuda(const Problem& problem,
                                                        const BindOptions& options);

}  // namespace headsplit::kernels
