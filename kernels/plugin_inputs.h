#pragma once

#include <cstdint>

#include "kernels/cpu/aligned.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/problem.h"

namespace headsplit::kernels {

/// Inputs of a problem in host memory, in the cache's own format: bf16 rows, 656-byte FP8 rows
/// (d_latent e4m3 values, fp32 scales, d_rope bf16 values), or rows of d_qk e4m3 values.
struct HostInputs {
  AlignedArray<std::uint16_t> query;  ///< bf16 [batch, query_tokens, local_heads, d_qk]
  AlignedArray<std::uint8_t> cache;   ///< [page_count, page_tokens, cache_row_bytes]
  std::int64_t query_bytes = 0;
  std::int64_t cache_bytes = 0;
};

/// The problem's random values; bytes that no request uses are all ones, which is NaN in each type.
HostInputs make_host_inputs(const Problem& problem, ThreadPool& pool);

}  // namespace headsplit::kernels
