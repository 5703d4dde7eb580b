#pragma once

#include "kernels/bf16.h"
#include "kernels/e4m3.h"
#include "kernels/random_value.h"

namespace headsplit::kernels {

/// Where a cache value stands and how it is stored.
struct CachePlace {
  std::int64_t slot = 0;  ///< page x page_tokens + slot of the page
  int dim = 0;            ///< 0..d_qk - 1
  int d_latent = 0;
  int d_qk = 0;
  bool eight_bits = false;  ///< FP8 cache: its latent part is e4m3 x scale
  bool one_scale = false;   ///< FP8 cache: all values are e4m3, with one scale
};

/// Query element `index` of [batch, query_tokens, local_heads, d_qk], as stored: bf16.
HEADSPLIT_HOST_DEVICE inline float stored_query_value(std::uint64_t seed, std::int64_t index) {
  return round_to_bf16(random_value(seed, Tensor::query, static_cast<std::uint64_t>(index)));
}

/// A cache element as stored: bf16, or e4m3 times the scale of its tile or of the cache.
HEADSPLIT_HOST_DEVICE inline float stored_cache_value(std::uint64_t seed, const CachePlace& place) {
  const auto slot = static_cast<std::uint64_t>(place.slot);
  const float value = random_value(
      seed, Tensor::cache,
      slot * static_cast<std::uint64_t>(place.d_qk) + static_cast<std::uint64_t>(place.dim));
  if (place.one_scale) {
    const float scale = fp8_tensor_scale(seed);
    return e4m3_value(e4m3_bits(value / scale)) * scale;
  }
  if (!place.eight_bits || place.dim >= place.d_latent) return round_to_bf16(value);
  const int tiles = (place.d_latent + kFp8ScaleTile - 1) / kFp8ScaleTile;
  const float scale =
      fp8_cache_scale(seed, slot * static_cast<std::uint64_t>(tiles) +
                                static_cast<std::uint64_t>(place.dim / kFp8ScaleTile));
  return e4m3_value(e4m3_bits(value / scale)) * scale;
}

}  // namespace headsplit::kernels
