#pragma once

#include "kernels/dsa_indexer/shape.h"
#include "kernels/e4m3.h"
#include "kernels/random_value.h"

/// The indexer's inputs as stored, by counter: equal to the bit on host and device.
namespace headsplit::kernels::indexer {

/// Query element `index` of [batch, query_tokens, heads, 128], e4m3; its scale is in the weights.
HEADSPLIT_HOST_DEVICE inline std::uint8_t stored_query(std::uint64_t seed, std::int64_t index) {
  return e4m3_bits(random_value(seed, Tensor::index_query, static_cast<std::uint64_t>(index)));
}

/// What random weights are multiplied with, so that scores are of about 1.
float weight_unit(int heads);

/// Weight `index` of [batch, query_tokens, heads]: of both signs, as models have them.
/// unit: weight_unit of the heads.
HEADSPLIT_HOST_DEVICE inline float stored_weight(std::uint64_t seed, std::int64_t index,
                                                 float unit) {
  return random_value(seed, Tensor::index_weight, static_cast<std::uint64_t>(index)) * unit;
}

/// Scale of the key in `slot` (page x page_tokens + slot of the page): between 2^-7 (random values
/// then just fit) and 2^-4 x 7/4, most of them no power of two.
HEADSPLIT_HOST_DEVICE inline float stored_scale(std::uint64_t seed, std::int64_t slot) {
  const std::uint64_t bits =
      random_bits(seed, Tensor::index_scale, static_cast<std::uint64_t>(slot));
  const auto quarters = static_cast<float>(4 + (bits & 3u));
  return quarters * static_cast<float>(1u << (bits >> 2 & 3u)) / 512;
}

/// Value `dim` of that key, e4m3.  scale: stored_scale of the slot.
HEADSPLIT_HOST_DEVICE inline std::uint8_t stored_key(std::uint64_t seed, std::int64_t slot, int dim,
                                                     float scale) {
  const auto index = static_cast<std::uint64_t>(slot) * kDim + static_cast<std::uint64_t>(dim);
  return e4m3_bits(random_value(seed, Tensor::index_key, index) / scale);
}

}  // namespace headsplit::kernels::indexer
