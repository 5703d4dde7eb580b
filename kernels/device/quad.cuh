#pragma once

#include <cstdint>

/// The four lanes of a warp that hold a row of a product's accumulators between them.
namespace headsplit::kernels {

__device__ __forceinline__ float quad_max(float value) {
  value = fmaxf(value, __shfl_xor_sync(0xFFFFFFFF, value, 1));
  return fmaxf(value, __shfl_xor_sync(0xFFFFFFFF, value, 2));
}

__device__ __forceinline__ float quad_sum(float value) {
  value += __shfl_xor_sync(0xFFFFFFFF, value, 1);
  return value + __shfl_xor_sync(0xFFFFFFFF, value, 2);
}

/// Lane t of a quad has piece t of four blocks, and gets the four pieces of block t.
__device__ __forceinline__ void quad_transpose(std::uint32_t (&value)[4], int lane) {
  const bool odd = lane % 2 != 0;
  const std::uint32_t first = __shfl_xor_sync(0xFFFFFFFF, odd ? value[0] : value[1], 1);
  const std::uint32_t second = __shfl_xor_sync(0xFFFFFFFF, odd ? value[2] : value[3], 1);
  // Pieces 2 x (t / 2) and the next one, of blocks t % 2 and t % 2 + 2.
  const std::uint32_t low[2] = {odd ? first : value[0], odd ? value[1] : first};
  const std::uint32_t high[2] = {odd ? second : value[2], odd ? value[3] : second};
  const bool upper = lane / 2 % 2 != 0;
  const std::uint32_t other[2] = {__shfl_xor_sync(0xFFFFFFFF, upper ? low[0] : high[0], 2),
                                  __shfl_xor_sync(0xFFFFFFFF, upper ? low[1] : high[1], 2)};
  value[0] = upper ? other[0] : low[0];
  value[1] = upper ? other[1] : low[1];
  value[2] = upper ? high[0] : other[0];
  value[3] = upper ? high[1] : other[1];
}

}  // namespace headsplit::kernels
