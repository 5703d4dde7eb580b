#pragma once

#include "kernels/per_head/portable_warp.cuh"

/// A warp's block of 16 rows meets a block of 16 tokens.
namespace headsplit::kernels::per_head {

template <Widths kWidths>
__device__ __forceinline__ void Warp<kWidths>::multiply_query(float (&scores)[2][4],
                                                              std::uint32_t block) const {
  const std::uint32_t keys = block + LaneAddress::columns_first(team.lane).at(0);
#pragma unroll
  for (int step = 0; step < kQuerySteps; ++step) {
    std::uint32_t key[4];
    ptx::ldmatrix_x4(key, (keys ^ (step % 4 * 2 * kChunkBytes)) + step / 4 * Widths::kSliceBytes);
    ptx::mma_m16n8k16(scores[0], query[step], key[0], key[1]);
    ptx::mma_m16n8k16(scores[1], query[step], key[2], key[3]);
  }
}

/// Scores of tokens that a row does not attend to become -infinity.
template <Widths kWidths>
__device__ __forceinline__ void Warp<kWidths>::mask(float (&scores)[2][4], int token) const {
  if (token + kBlock <= mask_begin) return;
#pragma unroll
  for (int n = 0; n < 2; ++n) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      if (token + n * 8 + team.lane % 4 * 2 + e % 2 >= limit[e / 2]) scores[n][e] = -INFINITY;
    }
  }
}

/// Moves the references of rows to their largest scores, where these are too far above; what was
/// weighed before is rescaled.  top: of this thread's scores, in log2.
template <Widths kWidths>
__device__ __forceinline__ void Warp<kWidths>::move_references(const float (&top)[2]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float largest = quad_max(top[half]);
    float rescale = 1;
    if (largest > reference[half] + split::kRescaleThreshold) {
      rescale = ptx::exp2_approx(reference[half] - largest);
      reference[half] = largest;
    }
    sum[half] *= rescale;
    scale_output(half, rescale);
  }
}

/// Weights of the tokens, as the A operand of the product with their values.
template <Widths kWidths>
__device__ __forceinline__ void Warp<kWidths>::weigh(const float (&scores)[2][4],
                                                     std::uint32_t (&weights)[4]) {
  float top[2];
  bool above = false;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    top[half] = arguments.scale_log2 * fmaxf(fmaxf(scores[0][2 * half], scores[0][2 * half + 1]),
                                             fmaxf(scores[1][2 * half], scores[1][2 * half + 1]));
    above = above || top[half] > reference[half] + split::kRescaleThreshold;
  }
  if (__any_sync(0xFFFFFFFF, above)) move_references(top);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    // A row that has attended to nothing yet has weights 2^-infinity.
    const float offset = reference[half] == -INFINITY ? 0 : reference[half];
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      const float low = ptx::exp2_approx(fmaf(scores[n][2 * half], arguments.scale_log2, -offset));
      const float high =
          ptx::exp2_approx(fmaf(scores[n][2 * half + 1], arguments.scale_log2, -offset));
      sum[half] += low + high;
      weights[2 * n + half] = ptx::pack_bf16(low, high);
    }
  }
}

template <Widths kWidths>
__device__ __forceinline__ void Warp<kWidths>::multiply_values(const std::uint32_t (&weights)[4],
                                                               std::uint32_t block) {
  const std::uint32_t values =
      block + kWidths.key_slices() * Widths::kSliceBytes + LaneAddress::rows_first(team.lane).at(0);
#pragma unroll
  for (int dims = 0; dims < kOutputTiles / 2; ++dims) {
    std::uint32_t value[4];
    ptx::ldmatrix_x4_trans(
        value, (values ^ (dims % 4 * 2 * kChunkBytes)) + dims / 4 * Widths::kSliceBytes);
    ptx::mma_m16n8k16(output[2 * dims], weights, value[0], value[1]);
    ptx::mma_m16n8k16(output[2 * dims + 1], weights, value[2], value[3]);
  }
}

template <Widths kWidths>
__device__ __forceinline__ void Warp<kWidths>::attend(std::uint32_t block, int token) {
  float scores[2][4] = {};
  multiply_query(scores, block);
  mask(scores, token);
  std::uint32_t weights[4];
  weigh(scores, weights);
  multiply_values(weights, block);
}

}  // namespace headsplit::kernels::per_head
