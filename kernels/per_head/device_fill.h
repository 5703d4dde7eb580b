#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/random_value.h"

namespace headsplit::kernels::per_head {

/// A cache of keys or values [page_count, kv_heads, page_tokens, width] bf16, and where its pages
/// and KV heads are in the whole problem's.
struct HeadCache {
  std::uint16_t* values = nullptr;
  Tensor tensor = Tensor::key;
  std::int64_t page_count = 0;
  int kv_heads = 1;
  int page_tokens = 64;
  int width = 128;                             ///< a multiple of 8
  const std::int32_t* used_slots = nullptr;    ///< [page_count]; slots from there on hold NaN
  const std::int32_t* source_pages = nullptr;  ///< [page_count]; null: itself
  const std::int32_t* source_heads = nullptr;  ///< [kv_heads]
  int whole_kv_heads = 1;
};

/// Enqueues the making of random inputs, equal to the bit to those of per_head/reference.h.
cudaError_t fill_cache(const HeadCache& cache, std::uint64_t seed, cudaStream_t stream);

}  // namespace headsplit::kernels::per_head
