#pragma once

#include "kernels/mla_dense/portable_consumer.cuh"

/// Weights of a tile, relative to references that move seldom.
namespace headsplit::kernels::dense {

/// The largest score of each row among this warp's tokens, to where the group's warps find it.
template <TileShape kShape>
__device__ __forceinline__ void Consumer<kShape>::share_largest(
    const float (&kept)[kBlocks][kKeptTiles][4]) const {
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float largest = fmaxf(kept[block][0][2 * half], kept[block][0][2 * half + 1]);
#pragma unroll
      for (int n = 1; n < kKeptTiles; ++n) {
        largest = fmaxf(largest, fmaxf(kept[block][n][2 * half], kept[block][n][2 * half + 1]));
      }
      share_row_value(block, half, quad_max(largest));
    }
  }
}

/// P in shared memory: each warp's tokens lie in the exchange area of its partner, which nobody
/// else reads; a row of theirs is 16 or 32 bytes.
template <TileShape kShape>
struct WeightPlace {
  static constexpr int kTiles = Consumer<kShape>::kKeptTiles;  ///< 8-token tiles of a warp
  static constexpr int kRowBytes = kTiles * kChunkBytes;
  static_assert(kTiles <= 2, "more 8-token tiles need another permutation");

  /// Of the first eight rows.  With two tiles, rows 4-7 have theirs swapped: no bank twice.
  __device__ static std::uint32_t at(int row, int tile) {
    return row * kRowBytes + (kTiles > 1 ? tile ^ (row / 4) : tile) * kChunkBytes;
  }
  static constexpr int half(int index) { return index * 8 * kRowBytes; }
  static constexpr int block(int index) { return index * TileShape::kBlockRows * kRowBytes; }
  /// Of this lane's ldmatrix row, for the A operand of 16 tokens.
  __device__ static std::uint32_t operand(const Consumer<kShape>& warp, int step) {
    const int chunk = 2 * step + warp.lane / 16;  // of 8 tokens
    const int token_half = chunk / (2 * kTiles);
    const int dimension_half = chunk / kTiles % 2;
    const int owner = 2 * dimension_half + token_half;
    return warp.exchange_area(owner ^ 2) + half(warp.lane / 8 % 2) +
           at(warp.lane % 8, chunk % kTiles);
  }
};

/// Weights of this warp's tokens, relative to the references as they are, into P.
/// added: their sums.  True when a score is too far above its row's reference.
template <TileShape kShape>
__device__ __forceinline__ bool Consumer<kShape>::weigh(const float (&kept)[kBlocks][kKeptTiles][4],
                                                        float (&added)[kBlocks][2]) const {
  using Place = WeightPlace<kShape>;
  const std::uint32_t weights = exchange_area(partner()) + lane % 4 * 4;
  bool above = false;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float base = reference[block][half];
      // A row that has attended to nothing yet has weights 2^-infinity.
      const float offset = base == -INFINITY ? 0 : base * arguments.scale_log2;
      const float limit = base == -INFINITY ? -INFINITY : kRescaleThreshold;
      added[block][half] = 0;
#pragma unroll
      for (int n = 0; n < kKeptTiles; ++n) {
        const float low = fmaf(kept[block][n][2 * half], arguments.scale_log2, -offset);
        const float high = fmaf(kept[block][n][2 * half + 1], arguments.scale_log2, -offset);
        above = above || fmaxf(low, high) > limit;
        const float low_weight = ptx::exp2_approx(low);
        const float high_weight = ptx::exp2_approx(high);
        added[block][half] += low_weight + high_weight;
        ptx::store_shared(
            weights + Place::at(lane / 4, n) + Place::block(block) + Place::half(half),
            ptx::pack_bf16(low_weight, high_weight));
      }
    }
  }
  return above;
}

/// Moves the references of rows to their largest scores, where these are too far above: what was
/// weighed relative to the old ones is rescaled.  All warps of the group come here together.
template <TileShape kShape>
__device__ __forceinline__ void Consumer<kShape>::move_references(
    const float (&kept)[kBlocks][kKeptTiles][4]) {
  share_largest(kept);
  group_barrier();
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float of_warp[4];
      load_row_values(of_warp, block, half);
      const float top = fmaxf(fmaxf(of_warp[0], of_warp[1]), fmaxf(of_warp[2], of_warp[3]));
      float& base = reference[block][half];
      if ((top - base) * arguments.scale_log2 > kRescaleThreshold) {
        const float rescale = ptx::exp2_approx((base - top) * arguments.scale_log2);
        base = top;
        sum[block][half] *= rescale;
#pragma unroll
        for (int n = 0; n < kOutputTiles; ++n) {
          output[block][n][2 * half] *= rescale;
          output[block][n][2 * half + 1] *= rescale;
        }
      }
    }
  }
}

}  // namespace headsplit::kernels::dense
