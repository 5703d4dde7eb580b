#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/e4m3.h"

/// A row of the FP8 latent cache: 512 values of e4m3, a scale (fp32) for each 128 of them, 64
/// values of bf16 (the RoPE key).  A stored value stands for e4m3 x scale.
///
/// Error of a value x of a tile with the largest magnitude amax: at most |x| / 16 (half a unit of
/// three mantissa bits) or scale / 1024 (half a step below the smallest normal number), whichever
/// is more, and a relative 2^-22 for the multiplication with 1 / scale.  scale is amax / 448, or up
/// to twice that as a power of two, and never below 2^-20.
namespace headsplit::kernels::kv_write {

constexpr int kLatent = 512;
constexpr int kRope = 64;
constexpr int kTiles = kLatent / kFp8ScaleTile;
constexpr int kScalesAt = kLatent;
constexpr int kRopeAt = kScalesAt + 4 * kTiles;
constexpr int kRowBytes = kRopeAt + 2 * kRope;
static_assert(kRowBytes == 656);

/// A row of the cache with one scale: 512 values of e4m3, 64 of e4m3 (the RoPE key).  The scale is
/// given; a value beyond 448 x scale is stored as that (it saturates, and is counted), all others
/// have the error above.
constexpr int kTensorRowBytes = kLatent + kRope;

/// How a tile's scale follows from its largest magnitude.
enum class ScaleRule {
  exact,        ///< amax / 448: the whole range of e4m3 is used
  power_of_two  ///< the next power of two: a dequantised value is exact in bf16
};

/// Tiles of values as small as this are stored with this scale: kernels multiply weights with it in
/// f16 (docs/mla-dense-fp8.md).
constexpr float kScaleLeast = 1.0f / (1 << 20);

/// largest: finite, not negative.  The same bits on host and device.
HEADSPLIT_HOST_DEVICE inline float tile_scale(float largest, ScaleRule rule) {
  const float scale = largest / kE4m3Largest;
  if (!(scale > kScaleLeast)) return kScaleLeast;
  if (rule == ScaleRule::exact) return scale;
  std::uint32_t bits = 0;
  std::memcpy(&bits, &scale, sizeof bits);
  constexpr std::uint32_t kMantissa = 0x7FFFFF;
  bits = (bits + kMantissa) & ~kMantissa;
  float power = 0;
  std::memcpy(&power, &bits, sizeof power);
  return power;
}

}  // namespace headsplit::kernels::kv_write
