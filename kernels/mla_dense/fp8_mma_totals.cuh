#pragma once

#include "kernels/mla_dense/fp8_mma_shape.h"

/// Outputs added up in device memory.
namespace headsplit::kernels::dense::mma {

/// Outputs of a thread of the values' groups: [block of 64 dimensions][4 x j + ..], of rows 8 x j
/// ..
constexpr int kBlocks = kValuesDims / 64;
constexpr int kOutputs = kRows / 2;
using Outputs = float[kBlocks][kOutputs];

/// Sums are relative to the references of the first of them, lowered by so many powers of two:
/// these may rise by 2^150 before a sum overflows.
constexpr float kTotalsHeadroom = 60;

/// What a thread has added up of its outputs, four of them together.
struct Totals {
  float4* sums;

  static constexpr int kQuads = kOutputs / 4;  ///< of a block
  static constexpr int kCount = kBlocks * kQuads;

  /// scratch: [ctas, values groups, kCount, threads of a group, 4]
  static __device__ __forceinline__ Totals of_this_thread(float* scratch, int group, int thread) {
    const int at = (int(blockIdx.x) * kValuesGroups + group) * kCount * kGroupThreads + thread;
    return {reinterpret_cast<float4*>(scratch) + at};
  }
  __device__ __forceinline__ float4* at(int block, int quad) const {
    return sums + (block * kQuads + quad) * kGroupThreads;
  }

  /// What outputs of two rows are multiplied with to be added to the sums.
  static __device__ __forceinline__ void units(float (&unit)[2], std::uint32_t firsts,
                                               std::uint32_t offsets) {
    std::uint32_t first[2];
    std::uint32_t now[2];
    ptx::load_shared(first, firsts);
    ptx::load_shared(now, offsets);
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      unit[e] =
          ptx::exp2_approx(__uint_as_float(first[e]) - __uint_as_float(now[e]) - kTotalsHeadroom);
    }
  }

  /// Adds outputs of a tile whose offsets are where its inverse sums would be; first: takes them.
  __device__ __forceinline__ void add(const Outputs& output, const SharedMemory& memory, int stage,
                                      int lane, bool first) const {
#pragma unroll
    for (int quad = 0; quad < kQuads; ++quad) {
      const int row = 8 * quad + lane % 4 * 2;
      const std::uint32_t now = memory.inverse(stage, row);
      float unit[2];
      units(unit, first ? now : memory.first_offset(row), now);
#pragma unroll
      for (int block = 0; block < kBlocks; ++block) {
        const float* const from = output[block] + 4 * quad;
        const float sums_of[4] = {from[0] * unit[0], from[1] * unit[1], from[2] * unit[0],
                                  from[3] * unit[1]};
        if (first) {
          __stcg(at(block, quad), make_float4(sums_of[0], sums_of[1], sums_of[2], sums_of[3]));
        } else {
          ptx::add_global(&at(block, quad)->x, sums_of);
        }
      }
    }
  }

  /// Adds the sums to the outputs of the last tile.
  __device__ __forceinline__ void add_to(Outputs& output, const SharedMemory& memory,
                                         int lane) const {
#pragma unroll
    for (int quad = 0; quad < kQuads; ++quad) {
      const int row = 8 * quad + lane % 4 * 2;
      float unit[2];
      units(unit, memory.first_offset(row), memory.last_offset(row));
      const float even = 1 / unit[0];
      const float odd = 1 / unit[1];
#pragma unroll
      for (int block = 0; block < kBlocks; ++block) {
        const float4 sum = __ldcg(at(block, quad));
        output[block][4 * quad] += sum.x * even;
        output[block][4 * quad + 1] += sum.y * odd;
        output[block][4 * quad + 2] += sum.z * even;
        output[block][4 * quad + 3] += sum.w * odd;
      }
    }
  }
};

}  // namespace headsplit::kernels::dense::mma
