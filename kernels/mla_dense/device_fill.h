#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace headsplit::kernels::dense {

/// Where the rows of a rank's query are in the whole problem's (kernels::ProblemSource).
struct QuerySource {
  int local_heads = 1;
  int query_tokens = 1;
  int d_qk = 1;
  int heads = 0;  ///< 0: the query is whole
  int first_head = 0;
  int first_request = 0;
};

/// Enqueues the making of random inputs, equal to the bit to query_value and cache_value of
/// mla_dense/reference.h.  query: [count] bf16.
cudaError_t fill_query(std::uint16_t* query, std::int64_t count, std::uint64_t seed,
                       cudaStream_t stream, const QuerySource& source = {});

/// source_pages: [page_count] on the device, the page of the whole that each is; null: itself.
/// cache: [page_count, page_tokens, d_qk] bf16.  Slots of page p from used_slots[p] on hold NaN.
cudaError_t fill_cache(std::uint16_t* cache, const std::int32_t* used_slots,
                       std::int64_t page_count, int page_tokens, int d_qk, std::uint64_t seed,
                       cudaStream_t stream, const std::int32_t* source_pages = nullptr);

/// The same of the FP8 cache: [page_count, page_tokens] rows of d_latent e4m3 values, a scale
/// (fp32) for each 128 of them, and d_rope bf16 values.
cudaError_t fill_fp8_cache(unsigned char* cache, const std::int32_t* used_slots,
                           std::int64_t page_count, int page_tokens, int d_latent, int d_rope,
                           std::uint64_t seed, cudaStream_t stream,
                           const std::int32_t* source_pages = nullptr);

/// The same of the FP8 cache with one scale: [page_count, page_tokens, d_qk] e4m3 values, each
/// multiplied with fp8_tensor_scale(seed) where it is used.
cudaError_t fill_fp8_tensor_cache(unsigned char* cache, const std::int32_t* used_slots,
                                  std::int64_t page_count, int page_tokens, int d_qk,
                                  std::uint64_t seed, cudaStream_t stream,
                                  const std::int32_t* source_pages = nullptr);

/// Enqueues the making of L2 policies, which only instructions of the GPU can say.
/// policies: [2], for lines that are first to go, and for all others.
cudaError_t make_policies(std::uint64_t* policies, cudaStream_t stream);

}  // namespace headsplit::kernels::dense
