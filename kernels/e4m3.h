#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/random_value.h"

namespace headsplit::kernels {

/// FP8 e4m3 as NVIDIA GPUs have it: 4 exponent bits (bias 7), 3 mantissa bits, largest 448, no
/// infinities.  Source: Micikevicius et al., "FP8 formats for deep learning", 2022.
constexpr float kE4m3Largest = 448;

/// Bits of the e4m3 value nearest to `value`, ties to even; beyond the largest it saturates.
/// value: not NaN.  The same bits on host and device.
HEADSPLIT_HOST_DEVICE inline std::uint8_t e4m3_bits(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const auto sign = static_cast<std::uint8_t>((bits >> 24) & 0x80u);
  const float magnitude = value < 0 ? -value : value;
  if (magnitude >= kE4m3Largest) return static_cast<std::uint8_t>(sign | 0x7Eu);
  constexpr float kSmallestNormal = 1.0f / 64;
  if (magnitude < kSmallestNormal) {
    // Steps of 2^-9: adding 2^23 leaves the rounded number of steps in the mantissa.
    const float steps = magnitude * 512 + 8388608.0f;
    return static_cast<std::uint8_t>(sign | static_cast<std::uint8_t>(steps - 8388608.0f));
  }
  bits &= 0x7FFFFFFFu;
  bits += 0x7FFFFu + ((bits >> 20) & 1u);
  constexpr std::uint32_t kRebias = (127u - 7u) << 3;
  return static_cast<std::uint8_t>(sign | ((bits >> 20) - kRebias));
}

/// The value that e4m3 bits stand for; exact.  bits: not NaN (0x7F, 0xFF).
HEADSPLIT_HOST_DEVICE inline float e4m3_value(std::uint8_t bits) {
  const std::uint32_t exponent = (bits >> 3) & 15u;
  const std::uint32_t mantissa = bits & 7u;
  float magnitude = static_cast<float>(mantissa) / 512;
  if (exponent > 0) {
    const std::uint32_t wide = ((exponent + 120u) << 23) | (mantissa << 20);
    std::memcpy(&magnitude, &wide, sizeof magnitude);
  }
  return (bits & 0x80u) != 0 ? -magnitude : magnitude;
}

/// Values that share one scale in the FP8 cache.
constexpr int kFp8ScaleTile = 128;

/// Scale of tile `tile_index` of the FP8 cache, counted over [page_count, page_tokens, tiles of a
/// row].  A power of two between 2^-7 (random values then just fit) and 2^-4, so that a
/// dequantised value is exact in bf16, and different from tile to tile, so that a mixed-up scale
/// shows.
HEADSPLIT_HOST_DEVICE inline float fp8_cache_scale(std::uint64_t seed, std::uint64_t tile_index) {
  const std::uint64_t steps = random_bits(seed, Tensor::scale, tile_index) & 3u;
  return static_cast<float>(1u << steps) / 128;
}

/// The one scale of the cache whose values all share it.  Between 2^-7 (random values then just
/// fit) and 2^-6, and seldom a power of two, so that one that is left out or rounded shows.
HEADSPLIT_HOST_DEVICE inline float fp8_tensor_scale(std::uint64_t seed) {
  constexpr std::uint32_t kOne = 1u << 23;
  const std::uint64_t steps = random_bits(seed, Tensor::scale, ~std::uint64_t{0}) & (kOne - 1u);
  return static_cast<float>(kOne + static_cast<std::uint32_t>(steps)) / 1073741824.0f;
}

}  // namespace headsplit::kernels
