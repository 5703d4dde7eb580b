#include "kernels/kv_write/kv_write.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/bf16.h"
#include "kernels/random_value.h"

namespace headsplit::kernels::kv_write {
namespace {

constexpr std::uint8_t kUntouched = 0xAB;

struct Cache {
  std::vector<std::uint16_t> latents;
  std::vector<std::uint16_t> rope;
  std::vector<std::uint8_t> rows;
};

/// Tokens of `latent_value(token, dim)` written to those slots of a cache of ten rows.
template <class Value>
Cache written(const std::vector<std::int32_t>& slots, ScaleRule rule, const Value& latent_value) {
  Cache cache{
      .latents = {}, .rope = {}, .rows = std::vector<std::uint8_t>(10 * kRowBytes, kUntouched)};
  for (std::size_t token = 0; token < slots.size(); ++token) {
    for (int d = 0; d < kLatent; ++d) {
      cache.latents.push_back(bf16_bits(latent_value(static_cast<int>(token), d)));
    }
    for (int d = 0; d < kRope; ++d) {
      cache.rope.push_back(bf16_bits(random_value(2, Tensor::key, token * kRope + std::size_t(d))));
    }
  }
  write_rows({.latents = cache.latents.data(),
              .rope = cache.rope.data(),
              .slots = slots.data(),
              .count = static_cast<std::int64_t>(slots.size())},
             rule, cache.rows.data());
  return cache;
}

std::vector<float> values_of(const Cache& cache, int slot) {
  std::vector<float> values(kLatent + kRope);
  read_row(cache.rows.data() + slot * kRowBytes, values.data());
  return values;
}

float scale_of(const Cache& cache, int slot, int tile) {
  float scale = 0;
  std::memcpy(&scale, cache.rows.data() + slot * kRowBytes + kScalesAt + 4 * tile, sizeof scale);
  return scale;
}

/// Tiles of very different sizes.
float latent(int token, int dim) {
  const float size = std::ldexp(1.0f, (dim / kFp8ScaleTile) * 5 - 8);
  return random_value(1, Tensor::value, std::uint64_t(token * kLatent + dim)) * size;
}

class KvWrite : public testing::TestWithParam<ScaleRule> {};
INSTANTIATE_TEST_SUITE_P(Scales, KvWrite,
                         testing::Values(ScaleRule::exact, ScaleRule::power_of_two),
                         [](const auto& rule) {
                           return rule.param == ScaleRule::exact ? "Exact" : "PowerOfTwo";
                         });

TEST_P(KvWrite, KeepsTheErrorBoundOfEveryValue) {
  const Cache cache = written({7, 2}, GetParam(), latent);
  for (int token = 0; token < 2; ++token) {
    const int slot = token == 0 ? 7 : 2;
    const auto values = values_of(cache, slot);
    for (int d = 0; d < kLatent; ++d) {
      const float x = bf16_value(cache.latents[std::size_t(token * kLatent + d)]);
      const float scale = scale_of(cache, slot, d / kFp8ScaleTile);
      const float bound = std::max(std::abs(x) / 16, scale / 1024) * (1 + 0x1p-20f);
      EXPECT_LE(std::abs(values[std::size_t(d)] - x), bound) << "token " << token << " dim " << d;
    }
    for (int d = 0; d < kRope; ++d) {
      EXPECT_EQ(values[std::size_t(kLatent + d)],
                bf16_value(cache.rope[std::size_t(token * kRope + d)]));
    }
  }
}

TEST(KvWriteScale, IsTheLargestMagnitudeOver448OrTheNextPowerOfTwo) {
  EXPECT_EQ(tile_scale(448, ScaleRule::exact), 1);
  EXPECT_EQ(tile_scale(448, ScaleRule::power_of_two), 1);
  EXPECT_EQ(tile_scale(450, ScaleRule::exact), 450.0f / 448);
  EXPECT_EQ(tile_scale(450, ScaleRule::power_of_two), 2);
  EXPECT_EQ(tile_scale(3.5f, ScaleRule::power_of_two), 1.0f / 128);
  EXPECT_EQ(tile_scale(0, ScaleRule::exact), kScaleLeast);
  EXPECT_EQ(tile_scale(1e-30f, ScaleRule::power_of_two), kScaleLeast);
}

TEST_P(KvWrite, KeepsPowersOfTwoAndZeroExactly) {
  const Cache cache = written({0}, GetParam(), [](int, int dim) {
    return dim % 3 == 0 ? 0.0f : std::ldexp(dim % 2 == 0 ? 1.75f : -1.0f, -(dim % 5));
  });
  const auto values = values_of(cache, 0);
  for (int d = 0; d < kLatent; ++d) {
    const float x = bf16_value(cache.latents[std::size_t(d)]);
    // 1.75 is 448's mantissa: both rules give a power of two.
    EXPECT_EQ(values[std::size_t(d)], x) << d;
  }
}

TEST_P(KvWrite, LeavesOtherRowsAndSkippedTokensAlone) {
  const Cache cache = written({3, -1, 5}, GetParam(), latent);
  for (int slot = 0; slot < 10; ++slot) {
    const auto begin = cache.rows.begin() + slot * kRowBytes;
    const bool untouched =
        std::all_of(begin, begin + kRowBytes, [](std::uint8_t byte) { return byte == kUntouched; });
    EXPECT_EQ(untouched, slot != 3 && slot != 5) << slot;
  }
}

TEST(KvWriteOneScale, KeepsTheErrorBoundOfEveryValueAndCountsWhatSaturates) {
  constexpr float kScale = 0.0137f;
  const Cache given = written({0, -1, 2}, ScaleRule::exact, latent);
  std::vector<std::uint8_t> rows(3 * kTensorRowBytes, kUntouched);
  const std::int32_t slots[] = {1, -1, 0};
  const std::int64_t saturated = write_tensor_rows(
      {.latents = given.latents.data(), .rope = given.rope.data(), .slots = slots, .count = 3},
      kScale, rows.data());
  std::int64_t beyond = 0;
  for (const int token : {0, 2}) {
    std::vector<float> values(kLatent + kRope);
    read_tensor_row(rows.data() + slots[token] * kTensorRowBytes, kScale, values.data());
    for (int d = 0; d < kLatent + kRope; ++d) {
      const float x =
          bf16_value(d < kLatent ? given.latents[std::size_t(token * kLatent + d)]
                                 : given.rope[std::size_t(token * kRope + d - kLatent)]);
      if (std::abs(x) > 448 * kScale) {
        ++beyond;
        EXPECT_EQ(values[std::size_t(d)], std::copysign(448 * kScale, x));
      } else {
        const float bound = std::max(std::abs(x) / 16, kScale / 1024) * (1 + 0x1p-20f);
        EXPECT_LE(std::abs(values[std::size_t(d)] - x), bound) << "token " << token << " dim " << d;
      }
    }
  }
  EXPECT_GT(beyond, 0);
  EXPECT_EQ(saturated, beyond);
  EXPECT_TRUE(std::all_of(rows.begin() + 2 * kTensorRowBytes, rows.end(),
                          [](std::uint8_t byte) { return byte == kUntouched; }));
}

TEST(KvWritePowersOfTwo, GiveValuesThatAreExactInBf16) {
  const Cache cache = written({0}, ScaleRule::power_of_two, latent);
  for (const float value : values_of(cache, 0)) EXPECT_EQ(value, round_to_bf16(value));
}

}  // namespace
}  // namespace headsplit::kernels::kv_write
