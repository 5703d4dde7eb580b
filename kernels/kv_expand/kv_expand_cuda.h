#pragma once

#include <memory>

#include "core/result.h"
#include "kernels/kernel.h"

namespace headsplit::kernels {

/// Fails: config (shape.h; a width that is no multiple of 8).
Result<void> kv_expand_cuda_supports(const RankProblem& shape);

/// kv_expand through cuBLASLt.  Pages are taken in chunks: one matmul makes the products of a
/// chunk's latents with the weights of all heads, [slots, heads x (d_nope + d_v)], and one launch
/// lays them out as K and V beside the RoPE keys.  K and V of a page are stored by head, which no
/// strided batch of matmuls writes with more than the 64 slots of a page a product: so small ones
/// would read a weight from L2 for every 64 products.  A chunk's products stay in L2, so that
/// memory sees only latents, and K and V. Fails: config (not supported; no cuBLASLt on this
/// machine), cuda.
Result<std::unique_ptr<BoundKernel>> bind_kv_expand_cuda(const Problem& problem,
                                                         const BindOptions& options);

}  // namespace headsplit::kernels
