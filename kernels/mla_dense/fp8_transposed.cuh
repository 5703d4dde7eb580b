#pragma once

#include "kernels/device/ptx.cuh"
#include "kernels/mla_dense/fp8_shape.h"
#include "kernels/mla_dense/split_arguments.h"

/// Outputs as kernels have them that multiply values^T with weights^T: of a thread, in blocks of 64
/// dimensions, the dimensions 2 x (lane / 4) + {0, 1} of its warp's 16 and the packed rows 8 x j +
/// 2 x (lane % 4) + {0, 1}: [block][4 x j + 2 x (which dimension) + (which row)].
namespace headsplit::kernels::dense::fp8 {

/// Multiplies the outputs of rows 8 x j + .. with factors, which are fp32 in shared memory, the
/// first of this thread's two rows at `factors`.
template <int kBlocks, int kOutputs>
__device__ __forceinline__ void rescale_rows(float (&output)[kBlocks][kOutputs], int j,
                                             std::uint32_t factors) {
  std::uint32_t both[2];
  ptx::load_shared(both, factors);
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int e = 0; e < 4; ++e) output[block][4 * j + e] *= __uint_as_float(both[e % 2]);
  }
}

/// Writes an item's outputs from first_dim on, times the factor of their row (factor_at: where it
/// is in shared memory); kZeros: what they are without any token.
template <bool kZeros, int kBlocks, int kOutputs, class Arguments, class FactorAt>
__device__ __forceinline__ void store_outputs(const Arguments& arguments, const WorkItem& item,
                                              const float (&output)[kBlocks][kOutputs],
                                              int first_dim, int lane, FactorAt factor_at) {
#pragma unroll
  for (int i = 0; i < kOutputs / 2; ++i) {
    const int row = i / 2 * 8 + lane % 4 * 2 + i % 2;
    if (row >= item.row_count) continue;
    const std::int64_t target =
        item.slot < 0 ? std::int64_t{item.request} * arguments.packed_rows + item.row_begin + row
                      : std::int64_t{item.slot} * arguments.tile_rows + row;
    const std::int64_t at = target * kLatent + first_dim;
    float factor = 0;
    if constexpr (!kZeros) factor = __uint_as_float(ptx::load_shared(factor_at(row)));
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
      const float low = kZeros ? 0 : output[block][i / 2 * 4 + i % 2] * factor;
      const float high = kZeros ? 0 : output[block][i / 2 * 4 + 2 + i % 2] * factor;
      if (item.slot < 0) {
        *reinterpret_cast<std::uint32_t*>(arguments.output + at + block * 64) =
            ptx::pack_bf16(low, high);
      } else {
        *reinterpret_cast<float2*>(arguments.partial_output + at + block * 64) =
            make_float2(low, high);
      }
    }
  }
}

}  // namespace headsplit::kernels::dense::fp8
