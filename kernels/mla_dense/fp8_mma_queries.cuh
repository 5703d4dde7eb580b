#pragma once

#include "kernels/device/quad.cuh"
#include "kernels/mla_dense/fp8_mma_shape.h"

/// Queries of an item, from bf16 to e4m3.
namespace headsplit::kernels::dense::mma {

/// Eight lanes take a row, of which the largest value becomes the largest of e4m3.
struct QueryRow {
  const SharedMemory& memory;
  int row;
  int lane;  ///< of the eight

  static constexpr int kLanes = 8;
  static constexpr int kParts = 2 * kQk / kChunkBytes / kLanes;  ///< of a lane, 16 bytes each
  std::uint32_t pairs[kParts][4];

  /// Not real: zeros.
  __device__ __forceinline__ void load(const std::uint16_t* source, bool real) {
#pragma unroll
    for (int i = 0; i < kParts; ++i) {
      uint4 read{};
      if (real) read = __ldg(reinterpret_cast<const uint4*>(source) + i * kLanes + lane);
      pairs[i][0] = read.x;
      pairs[i][1] = read.y;
      pairs[i][2] = read.z;
      pairs[i][3] = read.w;
    }
  }

  __device__ __forceinline__ float largest() const {
    std::uint32_t both = 0;
#pragma unroll
    for (int i = 0; i < kParts; ++i) {
#pragma unroll
      for (int e = 0; e < 4; ++e) both = ptx::max_bf16x2(both, pairs[i][e] & 0x7FFF7FFFu);
    }
    const float most =
        quad_max(fmaxf(__uint_as_float(both << 16), __uint_as_float(both & 0xFFFF0000u)));
    return fmaxf(most, __shfl_xor_sync(0xFFFFFFFF, most, 4));
  }

  /// Where eight values from dimension 64 x i + 8 x lane on lie.
  __device__ __forceinline__ std::uint32_t target(int i) const {
    const int chunk = lane / 2;
    const int at = i < kLatent / 64 ? i / 2 * kSliceBytes + swizzled(row, i % 2 * 4 + chunk)
                                    : kLatentSlices * kSliceBytes + swizzled_64(row, chunk);
    return memory.query() + std::uint32_t(at + lane % 2 * 8);
  }

  /// product_scale: what makes a product of true queries and stored keys a score.
  __device__ __forceinline__ void store(float product_scale) const {
    const float most = fmaxf(largest(), 1e-30f);
    const float up = kE4m3Largest / most;
#pragma unroll
    for (int i = 0; i < kParts; ++i) {
      std::uint32_t words[2];
#pragma unroll
      for (int word = 0; word < 2; ++word) {
        std::uint32_t packed[2];
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const std::uint32_t pair = pairs[i][2 * word + e];
          packed[e] = ptx::pack_e4m3(__uint_as_float(pair << 16) * up,
                                     __uint_as_float(pair & 0xFFFF0000u) * up);
        }
        words[word] = packed[0] | packed[1] << 16;
      }
      ptx::store_shared(target(i), words);
    }
    if (lane < kScoresGroups) {
      ptx::store_shared(memory.factor(lane, row),
                        __float_as_uint(product_scale * most / kE4m3Largest));
    }
  }
};

}  // namespace headsplit::kernels::dense::mma
