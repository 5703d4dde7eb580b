#pragma once

#include <cstdint>
#include <memory>

#include "kernels/cpu/aligned.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/problem.h"

namespace headsplit::kernels {

/// What a bound CPU kernel of attention works on; shapes as in `Problem`.
struct CpuBuffers {
  AlignedArray<std::uint16_t> query;   ///< bf16 [batch, query_tokens, local_heads, query width]
  AlignedArray<std::uint16_t> keys;    ///< bf16, the cache of keys, or of latents
  AlignedArray<std::uint16_t> values;  ///< bf16, of values; none for latents
  AlignedArray<float> output;          ///< [batch, query_tokens, local_heads, output width]
  AlignedArray<float> lse;             ///< [batch, query_tokens, local_heads]
  AlignedArray<float> partial_output;  ///< [partial rows, output width]
  AlignedArray<float> partial_lse;     ///< [partial rows]
};

/// Buffers with the problem's inputs in them; cache slots that no request uses hold NaN.
CpuBuffers make_cpu_buffers(const Problem& problem, std::int64_t partial_rows, ThreadPool& pool);

/// The latent cache of a problem: bf16 [page_count, page_tokens, d_qk].
AlignedArray<std::uint16_t> make_latent_cache(const Problem& problem, ThreadPool& pool);

}  // namespace headsplit::kernels
