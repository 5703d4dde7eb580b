#pragma once

#include <cstdint>
#include <memory>

#include "kernels/cpu/aligned.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/problem.h"

namespace headsplit::kernels {

/// What a bound CPU kernel works on; shapes as in `Problem`.
struct CpuBuffers {
  AlignedArray<std::uint16_t> query;   ///< bf16 [batch, query_tokens, local_heads, d_qk]
  AlignedArray<std::uint16_t> cache;   ///< bf16 [page_count, page_tokens, d_qk]
  AlignedArray<float> output;          ///< [batch, query_tokens, local_heads, d_latent]
  AlignedArray<float> lse;             ///< [batch, query_tokens, local_heads]
  AlignedArray<float> partial_output;  ///< [partials, query_tokens, local_heads, d_latent]
  AlignedArray<float> partial_lse;     ///< [partials, query_tokens, local_heads]
};

/// Buffers with the problem's inputs in them; cache slots that no request uses hold NaN.
CpuBuffers make_cpu_buffers(const Problem& problem, int partial_count, ThreadPool& pool);

}  // namespace headsplit::kernels
