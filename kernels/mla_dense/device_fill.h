#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace headsplit::kernels::dense {

/// Enqueues the making of random inputs, equal to the bit to query_value and cache_value of
/// mla_dense/reference.h.  query: [count] bf16.
cudaError_t fill_query(std::uint16_t* query, std::int64_t count, std::uint64_t seed,
                       cudaStream_t stream);

/// cache: [page_count, page_tokens, d_qk] bf16.  Slots of page p from used_slots[p] on hold NaN.
cudaError_t fill_cache(std::uint16_t* cache, const std::int32_t* used_slots,
                       std::int64_t page_count, int page_tokens, int d_qk, std::uint64_t seed,
                       cudaStream_t stream);

/// Enqueues the making of L2 policies, which only instructions of the GPU can say.
/// policies: [2], for lines that are first to go, and for all others.
cudaError_t make_policies(std::uint64_t* policies, cudaStream_t stream);

}  // namespace headsplit::kernels::dense
