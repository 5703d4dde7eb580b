#pragma once

#include "kernels/per_head/hopper_group.cuh"

/// Scores to weights, relative to references that move seldom.
namespace headsplit::kernels::per_head::hopper {

template <Shape kShape>
__device__ __forceinline__ void Consumer<kShape>::mask(int token) {
#pragma unroll
  for (int i = 0; i < kScores; ++i) {
    const int column = token + i / 4 * 8 + lane % 4 * 2 + i % 2;
    if (column >= attended[i / 2 % 2]) scores[i] = -INFINITY;
  }
}

/// Scores of the step from `token` on become weights in place.  Gives whether the output so far is
/// to be multiplied with `factor`.
template <Shape kShape>
__device__ __forceinline__ bool Consumer<kShape>::weigh(int token) {
  if (token + kShape.tokens > mask_begin) mask(token);
  float largest[2] = {-INFINITY, -INFINITY};
#pragma unroll
  for (int i = 0; i < kScores; ++i) largest[i / 2 % 2] = fmaxf(largest[i / 2 % 2], scores[i]);
  bool above = false;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    largest[half] *= arguments.scale_log2;
    above |= largest[half] > reference[half] + kRescaleThreshold;
  }
  const bool moves = __any_sync(0xFFFFFFFF, above);
  if (moves) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float of_row = quad_max(largest[half]);
      factor[half] = 1;
      if (of_row > reference[half] + kRescaleThreshold) {
        factor[half] = ptx::exp2_approx(reference[half] - of_row);
        reference[half] = of_row;
        sum[half] *= factor[half];
      }
    }
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    // A row that has attended to nothing yet has weights 2^-infinity.
    const float offset = reference[half] == -INFINITY ? 0 : reference[half];
#pragma unroll
    for (int i = 0; i < kScores / 4; ++i) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        float& score = scores[4 * i + 2 * half + e];
        score = ptx::exp2_approx(fmaf(score, arguments.scale_log2, -offset));
        sum[half] += score;
      }
    }
  }
  return moves;
}

template <Shape kShape>
__device__ __forceinline__ void Consumer<kShape>::pack() {
  wgmma::written(scores);  // not before the products that read the weights are done
#pragma unroll
  for (int i = 0; i < kScores / 2; ++i) {
    weights[i] = ptx::pack_bf16(scores[2 * i], scores[2 * i + 1]);
  }
}

}  // namespace headsplit::kernels::per_head::hopper
