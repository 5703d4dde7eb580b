#pragma once

#include <cstdint>

#include "kernels/device/buffer.h"
#include "kernels/problem.h"

namespace headsplit::kernels::expand {

/// What a bound kv_expand works on; H = local_heads.
struct Buffers {
  DeviceBuffer<std::uint16_t> latents;  ///< [page_count, page_tokens, d_latent + d_rope]
  DeviceBuffer<std::uint16_t>
      weights;  ///< W_UK [H, d_nope, d_latent], then W_UV [H, d_v, d_latent]
  DeviceBuffer<std::uint16_t> products;  ///< [slots of a chunk, H x (d_nope + d_v)]
  DeviceBuffer<std::uint16_t> keys;      ///< [page_count, H, page_tokens, d_nope + d_rope]
  DeviceBuffer<std::uint16_t> values;    ///< [page_count, H, page_tokens, d_v]
  DeviceBuffer<std::uint8_t> workspace;  ///< of cuBLASLt
};

/// Buffers with the inputs in them.  Waits.  Fails: cuda.
Result<Buffers> make_buffers(const Problem& problem, int chunk_pages, cudaStream_t stream,
                             DevicePool* pool);

}  // namespace headsplit::kernels::expand
