#pragma once

#include "kernels/mla_dense/fp8_warp.cuh"

/// Weights of a tile, relative to references that move seldom.
namespace headsplit::kernels::dense::fp8 {

template <class Row>
__device__ __forceinline__ void WarpOn<Row>::mask(float (&mine)[kTilesAWarp][4], int token) const {
  if (token + kTokens <= mask_begin) return;
#pragma unroll
  for (int tile = 0; tile < kTilesAWarp; ++tile) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int column = token + (kTilesAWarp * warp + tile) * 8 + token_of(lane % 4 * 2 + e % 2);
      if (column >= attended[e / 2]) mine[tile][e] = -INFINITY;
    }
  }
}

/// Weights of this warp's tokens, relative to the references as they are, into shared memory.
/// added: their sums.  True when a score is too far above its row's reference.
template <class Row>
__device__ __forceinline__ bool WarpOn<Row>::weigh(const float (&mine)[kTilesAWarp][4],
                                                   float (&added)[2]) const {
  // Weights are lifted with their tokens' scales, if there are any.
  constexpr float kWeightFactor = Row::kOneScale ? kLift : 1;
  const float factor = score_factor();
  bool above = false;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const bool none = reference[half] == -INFINITY;
    // A row that has attended to nothing yet has weights 2^-infinity.
    const float offset = none ? 0 : reference[half];
    const float limit = none ? -INFINITY : kRescaleThreshold;
    added[half] = 0;
#pragma unroll
    for (int tile = 0; tile < kTilesAWarp; ++tile) {
      const float low = fmaf(mine[tile][2 * half], factor, -offset);
      const float high = fmaf(mine[tile][2 * half + 1], factor, -offset);
      above = above || fmaxf(low, high) > limit;
      const float low_weight = ptx::exp2_approx(low);
      const float high_weight = ptx::exp2_approx(high);
      added[half] += low_weight + high_weight;
      ptx::store_shared(
          memory.weights() + swizzled(row(half), kTilesAWarp * warp + tile) + lane % 4 * 4,
          ptx::pack_f16(low_weight * kWeightFactor, high_weight * kWeightFactor));
    }
  }
  return above;
}

template <class Row>
__device__ __forceinline__ void WarpOn<Row>::share_row_value(int half, float value) const {
  if (lane % 4 != 0) return;
  ptx::store_shared(memory.row_values(row(half)) + 4 * warp, __float_as_uint(value));
}

/// Moves the references of rows to their largest scores, where these are too far above, and
/// rescales what was weighed relative to the old ones.  All warps come here together.
template <class Row>
__device__ __forceinline__ void WarpOn<Row>::move_references(const float (&mine)[kTilesAWarp][4]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float largest = -INFINITY;
#pragma unroll
    for (int tile = 0; tile < kTilesAWarp; ++tile) {
      largest = fmaxf(largest, fmaxf(mine[tile][2 * half], mine[tile][2 * half + 1]));
    }
    share_row_value(half, quad_max(largest));
  }
  barrier();
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float of_warp[kWarps];
    ptx::load_shared(of_warp, memory.row_values(row(half)));
    const float top =
        fmaxf(fmaxf(of_warp[0], of_warp[1]), fmaxf(of_warp[2], of_warp[3])) * score_factor();
    if (top <= reference[half] + kRescaleThreshold) continue;
    const float rescale = ptx::exp2_approx(reference[half] - top);
    reference[half] = top;
    sum[half] *= rescale;
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      output[i][2 * half] *= rescale;
      output[i][2 * half + 1] *= rescale;
    }
  }
}

}  // namespace headsplit::kernels::dense::fp8
