#pragma once

#include "kernels/bf16.h"
#include "kernels/mla_dense/stored_values.h"
#include "kernels/random_value.h"

namespace headsplit::kernels {

/// Queries are stored_query_value's, with the index into [batch, query_tokens, local_heads, d_k].

/// Where an element of the K or V cache stands: [page_count, kv_heads, page_tokens, width].
/// Pages and KV heads are those of the whole problem.
struct PerHeadPlace {
  std::int64_t page = 0;
  int kv_head = 0;
  int slot = 0;
  int dim = 0;
  int kv_heads = 1;
  int page_tokens = 64;
  int width = 1;  ///< d_k or d_v
};

/// Its index into the cache.
HEADSPLIT_HOST_DEVICE inline std::int64_t per_head_index(const PerHeadPlace& place) {
  const std::int64_t row =
      (place.page * place.kv_heads + place.kv_head) * place.page_tokens + place.slot;
  return row * place.width + place.dim;
}

/// Key element `index` of the K cache, as stored: bf16.
HEADSPLIT_HOST_DEVICE inline float stored_key(std::uint64_t seed, std::int64_t index) {
  return round_to_bf16(random_value(seed, Tensor::key, static_cast<std::uint64_t>(index)));
}

/// Value element `index` of the V cache, as stored: bf16.
HEADSPLIT_HOST_DEVICE inline float stored_value(std::uint64_t seed, std::int64_t index) {
  return round_to_bf16(random_value(seed, Tensor::value, static_cast<std::uint64_t>(index)));
}

}  // namespace headsplit::kernels
