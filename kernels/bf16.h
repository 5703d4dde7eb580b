#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/random_value.h"

namespace headsplit::kernels {

/// Bits of the bf16 nearest to `value`, ties to even; NaN gives a quiet NaN.  Integer arithmetic
/// only, so host and device agree to the bit.
HEADSPLIT_HOST_DEVICE inline std::uint16_t bf16_bits(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return 0x7FFF;
  const std::uint32_t tie_to_even = 0x7FFFu + ((bits >> 16) & 1u);
  return static_cast<std::uint16_t>((bits + tie_to_even) >> 16);
}

/// The value that bf16 bits stand for; exact.
HEADSPLIT_HOST_DEVICE inline float bf16_value(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

/// `value` rounded to bf16 precision.
HEADSPLIT_HOST_DEVICE inline float round_to_bf16(float value) {
  return bf16_value(bf16_bits(value));
}

}  // namespace headsplit::kernels
