#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define HEADSPLIT_HOST_DEVICE __host__ __device__
#else
#define HEADSPLIT_HOST_DEVICE
#endif

namespace headsplit::kernels {

/// Which tensor a random value belongs to; part of the key.
enum class Tensor : std::uint64_t {
  query = 1,
  cache = 2,
  length = 3,
  page = 4,
  scale = 5,
  key = 6,
  value = 7,
  weight = 8,
  index = 9,
  index_query = 16,
  index_key = 17,
  index_scale = 18,
  index_weight = 19
};

/// 64 random bits for (seed, tensor, index): counter-based, so any element can be made anywhere,
/// on host or device, without the others.  Source: the finaliser of SplitMix64 (Steele et al.,
/// "Fast splittable pseudorandom number generators", 2014).
HEADSPLIT_HOST_DEVICE inline std::uint64_t random_bits(std::uint64_t seed, Tensor tensor,
                                                       std::uint64_t index) {
  std::uint64_t z = index * 0x9E3779B97F4A7C15ull + seed * 0xD1B54A32D192ED03ull +
                    static_cast<std::uint64_t>(tensor) * 0x8CB92BA72F3D8DD7ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

/// A value of about a standard normal distribution (the sum of four 16-bit uniforms: mean 0,
/// variance 1, within +-3.47).  Bit-equal on host and device: integer sums and one multiplication.
HEADSPLIT_HOST_DEVICE inline float random_value(std::uint64_t seed, Tensor tensor,
                                                std::uint64_t index) {
  const std::uint64_t bits = random_bits(seed, tensor, index);
  const auto sum = static_cast<std::int32_t>((bits & 0xFFFF) + ((bits >> 16) & 0xFFFF) +
                                             ((bits >> 32) & 0xFFFF) + (bits >> 48));
  constexpr float kScale = 1.7320508f / 65536.0f;  // variance of the sum is 4 x 65536^2 / 12
  return static_cast<float>(sum - 2 * 65535) * kScale;
}

}  // namespace headsplit::kernels
