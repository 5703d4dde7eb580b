#pragma once

#include "kernels/per_head/portable_warp.cuh"

/// A warp's rows meet a block of 16 tokens.
namespace headsplit::kernels::per_head {

template <TileShape kShape>
__device__ __forceinline__ void Warp<kShape>::multiply_query(Scores& scores,
                                                             std::uint32_t tokens) const {
  const std::uint32_t keys = tokens + LaneAddress::columns_first(team.lane).at(0);
  const std::uint32_t queries = memory.query(0) + LaneAddress::rows_first(team.lane).at(0);
#pragma unroll
  for (int step = 0; step < kQuerySteps; ++step) {
    const std::uint32_t in_row = step % 4 * 2 * kChunkBytes;
    const int slice = step / 4;
    std::uint32_t key[4];
    ptx::ldmatrix_x4(key, (keys ^ in_row) + slice * TileShape::kSliceBytes);
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
      if constexpr (kShape.shares_query()) {
        std::uint32_t of_rows[4];
        ptx::ldmatrix_x4(of_rows, (queries ^ in_row) + (block * kShape.key_slices() + slice) *
                                                           TileShape::kSliceBytes);
        ptx::mma_m16n8k16(scores[block][0], of_rows, key[0], key[1]);
        ptx::mma_m16n8k16(scores[block][1], of_rows, key[2], key[3]);
      } else {
        ptx::mma_m16n8k16(scores[block][0], query[step], key[0], key[1]);
        ptx::mma_m16n8k16(scores[block][1], query[step], key[2], key[3]);
      }
    }
  }
}

/// Scores of tokens that a row does not attend to become -infinity.
template <TileShape kShape>
__device__ __forceinline__ void Warp<kShape>::mask(Scores& scores, int token) const {
  if (token + kBlock <= mask_begin) return;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int end = limit(tile_row(block, half)) - (token + team.lane % 4 * 2);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (i / 2 * 8 + i % 2 >= end) scores[block][i / 2][2 * half + i % 2] = -INFINITY;
      }
    }
  }
}

/// Moves the references of rows to their largest scores, where these are too far above; what was
/// weighed before is rescaled.  top: of this thread's scores, in log2.
template <TileShape kShape>
__device__ __forceinline__ void Warp<kShape>::move_references(const float (&top)[kBlocks][2]) {
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float& base = reference[block][half];
      const float largest = quad_max(top[block][half]);
      float rescale = 1;
      if (largest > base + split::kRescaleThreshold) {
        rescale = ptx::exp2_approx(base - largest);
        base = largest;
      }
      sum[block][half] *= rescale;
      scale_output(block, half, rescale);
    }
  }
}

/// Weights of the tokens, as the A operand of the product with their values.
template <TileShape kShape>
__device__ __forceinline__ void Warp<kShape>::weigh(const Scores& scores, Weights& weights) {
  float top[kBlocks][2];
  bool above = false;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const auto& of_row = scores[block];
      const float low = fmaxf(of_row[0][2 * half], of_row[0][2 * half + 1]);
      const float high = fmaxf(of_row[1][2 * half], of_row[1][2 * half + 1]);
      top[block][half] = arguments.scale_log2 * fmaxf(low, high);
      above = above || top[block][half] > reference[block][half] + split::kRescaleThreshold;
    }
  }
  if (__any_sync(0xFFFFFFFF, above)) move_references(top);
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      // A row that has attended to nothing yet has weights 2^-infinity.
      const float base = reference[block][half];
      const float offset = base == -INFINITY ? 0 : base;
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        const float* of_row = scores[block][n] + 2 * half;
        const float low = ptx::exp2_approx(fmaf(of_row[0], arguments.scale_log2, -offset));
        const float high = ptx::exp2_approx(fmaf(of_row[1], arguments.scale_log2, -offset));
        sum[block][half] += low + high;
        weights[block][2 * n + half] = ptx::pack_bf16(low, high);
      }
    }
  }
}

template <TileShape kShape>
__device__ __forceinline__ void Warp<kShape>::multiply_values(const Weights& weights,
                                                              std::uint32_t tokens) {
  const std::uint32_t values = tokens + kShape.key_slices() * TileShape::kSliceBytes +
                               LaneAddress::rows_first(team.lane).at(0);
#pragma unroll
  for (int dims = 0; dims < kOutputTiles / 2; ++dims) {
    std::uint32_t value[4];
    ptx::ldmatrix_x4_trans(
        value, (values ^ (dims % 4 * 2 * kChunkBytes)) + dims / 4 * TileShape::kSliceBytes);
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
      ptx::mma_m16n8k16(output[block][2 * dims], weights[block], value[0], value[1]);
      ptx::mma_m16n8k16(output[block][2 * dims + 1], weights[block], value[2], value[3]);
    }
  }
}

template <TileShape kShape>
__device__ __forceinline__ void Warp<kShape>::attend(std::uint32_t tokens, int token) {
  Scores scores = {};
  multiply_query(scores, tokens);
  mask(scores, token);
  Weights weights;
  weigh(scores, weights);
  multiply_values(weights, tokens);
}

}  // namespace headsplit::kernels::per_head
