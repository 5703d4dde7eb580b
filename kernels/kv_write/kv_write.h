#pragma once

#include <cstdint>

#include "kernels/kv_write/fp8_row.h"

namespace headsplit::kernels::kv_write {

/// New tokens and where they go.
struct Tokens {
  const std::uint16_t* latents = nullptr;  ///< [count, 512] bf16, finite
  const std::uint16_t* rope = nullptr;     ///< [count, 64] bf16
  const std::int32_t* slots = nullptr;  ///< [count], page x page_tokens + slot; negative: skipped
  std::int64_t count = 0;
};

/// Quantises tokens into their rows of the cache [slots, 656]; on the CPU.  Two tokens of one slot
/// are not allowed.
void write_rows(const Tokens& tokens, ScaleRule rule, std::uint8_t* cache);

/// The same into rows of the cache with one scale [slots, 576].  scale: 2^-20 and more.  Gives how
/// many values saturated.
std::int64_t write_tensor_rows(const Tokens& tokens, float scale, std::uint8_t* cache);

/// The 576 values (latent, then RoPE) that a row stands for.
void read_row(const std::uint8_t* row, float* values);
void read_tensor_row(const std::uint8_t* row, float scale, float* values);

}  // namespace headsplit::kernels::kv_write
