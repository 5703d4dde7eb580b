#pragma once

#include <memory>

#include "kernels/kernel.h"

namespace headsplit::kernels {

/// Absorbed MLA decode on CUDA, sm_80 and later: mma.sync (docs/mla-dense-portable.md), and wgmma
/// on Hopper for more than 32 packed rows (docs/mla-dense.md), of an FP8 cache for more than 16
/// (docs/mla-dense-fp8.md); cache in pages of 16, 32, 64 or 128 tokens, ragged lengths, up to 256
/// query tokens.
Result<void> mla_dense_cuda_supports(const RankProblem& shape);

/// Makes the inputs on the current device and plans the launch.  Waits for the device.
/// Fails: config (unsupported shape or page size, no tiles fit), cuda (no GPU, out of memory).
Result<std::unique_ptr<BoundKernel>> bind_mla_dense_cuda(const Problem& problem,
                                                         const BindOptions& options);

/// The same in another arithmetic: products in FP8, of a cache in fp8_tensor with queries and
/// weights rounded to e4m3, on Hopper (docs/mla-dense-fp8.md).  verify.h says how far outputs may
/// be from those of exact queries.
Result<void> mla_dense_fp8_mma_supports(const RankProblem& shape);
Result<std::unique_ptr<BoundKernel>> bind_mla_dense_fp8_mma(const Problem& problem,
                                                            const BindOptions& options);

}  // namespace headsplit::kernels
