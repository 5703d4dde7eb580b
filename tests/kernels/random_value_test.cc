#include "kernels/random_value.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/bf16.h"
#include "kernels/e4m3.h"

namespace headsplit::kernels {
namespace {

constexpr int kSamples = 200'000;

std::vector<double> samples(std::uint64_t seed, Tensor tensor) {
  std::vector<double> values;
  for (int i = 0; i < kSamples; ++i) values.push_back(random_value(seed, tensor, std::uint64_t(i)));
  return values;
}

double mean_product(const std::vector<double>& a, const std::vector<double>& b, int shift) {
  double sum = 0;
  for (int i = 0; i + shift < kSamples; ++i) sum += a[std::size_t(i)] * b[std::size_t(i + shift)];
  return sum / (kSamples - shift);
}

TEST(RandomValue, HasMeanZeroVarianceOneAndBoundedTails) {
  const auto values = samples(1, Tensor::cache);
  double sum = 0;
  double tail = 0;
  for (const double value : values) {
    sum += value;
    tail += std::abs(value) > 2 ? 1 : 0;
    EXPECT_LE(std::abs(value), 3.4642);
  }
  const double standard_error = 1 / std::sqrt(double(kSamples));
  EXPECT_NEAR(sum / kSamples, 0, 4 * standard_error);
  EXPECT_NEAR(mean_product(values, values, 0), 1, 0.02);
  EXPECT_NEAR(tail / kSamples, 0.0430, 0.004);  // of the sum of four uniforms
}

TEST(RandomValue, NeighboursTensorsAndSeedsAreUncorrelated) {
  const auto values = samples(1, Tensor::cache);
  const double limit = 5 / std::sqrt(double(kSamples));
  EXPECT_NEAR(mean_product(values, values, 1), 0, limit);
  EXPECT_NEAR(mean_product(values, values, 576), 0, limit);
  EXPECT_NEAR(mean_product(values, samples(1, Tensor::query), 0), 0, limit);
  EXPECT_NEAR(mean_product(values, samples(2, Tensor::cache), 0), 0, limit);
}

TEST(RandomValue, IsAFunctionOfItsKeyAlone) {
  EXPECT_EQ(random_bits(5, Tensor::query, 9), random_bits(5, Tensor::query, 9));
  EXPECT_NE(random_bits(5, Tensor::query, 9), random_bits(5, Tensor::query, 10));
}

TEST(Bf16, RoundsToNearestAndTiesToEven) {
  EXPECT_EQ(bf16_bits(1.0f), 0x3F80);
  EXPECT_EQ(bf16_bits(1.0f + 1.0f / 256), 0x3F80);    // half way between two: the even one
  EXPECT_EQ(bf16_bits(1.0f + 3.0f / 256), 0x3F82);    // half way again
  EXPECT_EQ(bf16_bits(1.0f + 1.001f / 256), 0x3F81);  // just above half way
  EXPECT_EQ(bf16_bits(-1.0f - 1.001f / 256), 0xBF81);
  EXPECT_EQ(bf16_bits(3.4e38f), 0x7F80);  // rounds up to infinity
}

TEST(Bf16, KeepsWhatItCanHold) {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const float value = bf16_value(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(round_to_bf16(value)));
    } else {
      EXPECT_EQ(bf16_bits(value), bits);
    }
  }
}

TEST(E4m3, KeepsWhatItCanHold) {
  for (std::uint32_t bits = 0; bits <= 0xFF; ++bits) {
    if ((bits & 0x7F) == 0x7F) continue;  // NaN
    EXPECT_EQ(e4m3_bits(e4m3_value(static_cast<std::uint8_t>(bits))), bits);
  }
  EXPECT_EQ(e4m3_value(0x7E), 448);
  EXPECT_EQ(e4m3_value(0x01), 1.0f / 512);
}

TEST(E4m3, RoundsToTheNearestValueAndSaturates) {
  std::vector<float> all;
  for (int bits = 0; bits < 0x7F; ++bits) all.push_back(e4m3_value(std::uint8_t(bits)));
  for (int i = 0; i < 20'000; ++i) {
    const float value = std::abs(random_value(1, Tensor::cache, std::uint64_t(i))) * 128;
    float nearest = all.front();
    for (const float candidate : all) {
      if (std::abs(candidate - value) < std::abs(nearest - value)) nearest = candidate;
    }
    const float rounded = e4m3_value(e4m3_bits(value));
    EXPECT_EQ(std::abs(rounded - value), std::abs(nearest - value)) << value;
    EXPECT_EQ(e4m3_value(e4m3_bits(-value)), -rounded);
  }
  EXPECT_EQ(e4m3_value(e4m3_bits(1e9f)), 448);
}

TEST(Fp8Scale, KeepsRandomValuesInRangeAndDiffersFromTileToTile) {
  std::vector<float> scales;
  for (std::uint64_t tile = 0; tile < 64; ++tile) scales.push_back(fp8_cache_scale(1, tile));
  const auto [low, high] = std::minmax_element(scales.begin(), scales.end());
  EXPECT_EQ(*low, 1.0f / 128);
  EXPECT_EQ(*high, 1.0f / 16);
  EXPECT_LT(3.4642f / *low, kE4m3Largest);
}

TEST(Fp8Scale, OfAWholeCacheKeepsRandomValuesInRangeAndComesFromTheSeed) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    EXPECT_GE(fp8_tensor_scale(seed), 1.0f / 128);
    EXPECT_LT(fp8_tensor_scale(seed), 1.0f / 64);
  }
  EXPECT_NE(fp8_tensor_scale(1), fp8_tensor_scale(2));
}

}  // namespace
}  // namespace headsplit::kernels
