#include "kernels/kv_write/kv_write.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/bf16.h"

namespace headsplit::kernels::kv_write {
namespace {

void write_tile(const std::uint16_t* values, ScaleRule rule, std::uint8_t* target,
                std::uint8_t* scale_target) {
  float largest = 0;
  for (int i = 0; i < kFp8ScaleTile; ++i) {
    largest = std::max(largest, std::abs(bf16_value(values[i])));
  }
  const float scale = tile_scale(largest, rule);
  const float inverse = 1 / scale;
  for (int i = 0; i < kFp8ScaleTile; ++i) target[i] = e4m3_bits(bf16_value(values[i]) * inverse);
  std::memcpy(scale_target, &scale, sizeof scale);
}

/// Gives how many values saturated.
std::int64_t write_values(const std::uint16_t* values, int count, float inverse,
                          std::uint8_t* target) {
  std::int64_t saturated = 0;
  for (int i = 0; i < count; ++i) {
    const float scaled = bf16_value(values[i]) * inverse;
    if (std::abs(scaled) > kE4m3Largest) ++saturated;
    target[i] = e4m3_bits(scaled);
  }
  return saturated;
}

}  // namespace

void write_rows(const Tokens& tokens, ScaleRule rule, std::uint8_t* cache) {
  for (std::int64_t token = 0; token < tokens.count; ++token) {
    if (tokens.slots[token] < 0) continue;
    std::uint8_t* const row = cache + std::int64_t{tokens.slots[token]} * kRowBytes;
    for (int tile = 0; tile < kTiles; ++tile) {
      write_tile(tokens.latents + token * kLatent + tile * kFp8ScaleTile, rule,
                 row + tile * kFp8ScaleTile, row + kScalesAt + 4 * tile);
    }
    std::memcpy(row + kRopeAt, tokens.rope + token * kRope, 2 * kRope);
  }
}

std::int64_t write_tensor_rows(const Tokens& tokens, float scale, std::uint8_t* cache) {
  const float inverse = 1 / scale;
  std::int64_t saturated = 0;
  for (std::int64_t token = 0; token < tokens.count; ++token) {
    if (tokens.slots[token] < 0) continue;
    std::uint8_t* const row = cache + std::int64_t{tokens.slots[token]} * kTensorRowBytes;
    saturated += write_values(tokens.latents + token * kLatent, kLatent, inverse, row);
    saturated += write_values(tokens.rope + token * kRope, kRope, inverse, row + kLatent);
  }
  return saturated;
}

void read_tensor_row(const std::uint8_t* row, float scale, float* values) {
  for (int d = 0; d < kLatent + kRope; ++d) values[d] = e4m3_value(row[d]) * scale;
}

void read_row(const std::uint8_t* row, float* values) {
  for (int d = 0; d < kLatent; ++d) {
    float scale = 0;
    std::memcpy(&scale, row + kScalesAt + d / kFp8ScaleTile * 4, sizeof scale);
    values[d] = e4m3_value(row[d]) * scale;
  }
  for (int d = 0; d < kRope; ++d) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, row + kRopeAt + 2 * d, sizeof bits);
    values[kLatent + d] = bf16_value(bits);
  }
}

}  // namespace headsplit::kernels::kv_write
