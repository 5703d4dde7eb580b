#pragma once

#include "kernels/device/quad.cuh"
#include "kernels/mla_dense/fp8_mma_scores_group.cuh"

/// Scores to weights, relative to references that move seldom.
namespace headsplit::kernels::dense::mma {

__device__ __forceinline__ void ScoresGroup::mask(float (&scores)[kScores], int token) const {
#pragma unroll
  for (int i = 0; i < kScores; ++i) {
    const int column = token + i / 4 * 8 + lane % 4 * 2 + i % 2;
    if (column >= attended[i / 2 % 2]) scores[i] = -INFINITY;
  }
}

/// Takes the offsets that the tile before left, and moves those of rows whose weights would be too
/// large to their largest score; says what the output so far is to be multiplied with.
__device__ __forceinline__ void ScoresGroup::choose_offsets(const float (&scores)[kScores],
                                                            bool first) {
  float largest[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    largest[half] = scores[2 * half];
#pragma unroll
    for (int i = 0; i < kScores / 4; ++i) {
      largest[half] =
          fmaxf(largest[half], fmaxf(scores[4 * i + 2 * half], scores[4 * i + 2 * half + 1]));
    }
    largest[half] *= factor[half];
  }
  wait(memory.turn(group, warp), group == 0 ? parity ^ 1 : parity);
  bool above = false;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    if (!first) {
      const float common = __uint_as_float(ptx::load_shared(memory.offset(row(half))));
      if (common != offset[half]) sum[half] *= ptx::exp2_approx(common - offset[half]);
      offset[half] = common;
    }
    above |= largest[half] + offset[half] > kWeightLift + kRescaleThreshold;
  }
  const bool moves = __any_sync(0xFFFFFFFF, above) || first;
  if (moves) {
    __syncwarp();  // all lanes have read
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float most = quad_max(largest[half]);
      float rescale = 1;
      if (most + offset[half] > kWeightLift + kRescaleThreshold) {
        rescale = ptx::exp2_approx(kWeightLift - most - offset[half]);
        offset[half] = kWeightLift - most;
        sum[half] *= rescale;
      }
      if (lane % 4 == 0) {
        ptx::store_shared(memory.offset(row(half)), __float_as_uint(offset[half]));
        ptx::store_shared(memory.rescale(group, row(half)), __float_as_uint(rescale));
      }
    }
  }
  ptx::mbarrier_arrive(memory.turn(1 - group, warp));
  if (lane == 0) ptx::store_shared(memory.rescale_flag(group, warp), moves && !first ? 1u : 0u);
}

/// Weights of the tile's scores into shared memory.  Of 16 tokens that a chunk of a row has, four
/// of a lane follow each other: as operands of values have them.
__device__ __forceinline__ void ScoresGroup::weigh(const float (&scores)[kScores]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    std::uint32_t packed[4];
#pragma unroll
    for (int chunk = 0; chunk < 4; ++chunk) {
      std::uint32_t pairs[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const float* const both = scores + 4 * (2 * chunk + i) + 2 * half;
        const float low = ptx::exp2_approx(fmaf(both[0], factor[half], offset[half]));
        const float high = ptx::exp2_approx(fmaf(both[1], factor[half], offset[half]));
        sum[half] += low + high;
        pairs[i] = ptx::pack_e4m3(low, high);
      }
      packed[chunk] = pairs[0] | pairs[1] << 16;
    }
    const int matrix_row = 16 * warp + 8 * half + lane % 8;
    ptx::stmatrix_x4(memory.weights(group) + swizzled_64(matrix_row, lane / 8), packed);
  }
}

/// Where outputs are added up after a tile, what their weights are relative to.
__device__ __forceinline__ void ScoresGroup::store_offsets(int index, bool last) const {
  const bool ends = !last && (index + 1) % kTilesASum == 0;
  if (lane % 4 != 0 || (!ends && (!last || index < kTilesASum))) return;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    ptx::store_shared(ends ? memory.inverse(group, row(half)) : memory.last_offset(row(half)),
                      __float_as_uint(offset[half]));
  }
}

/// For the group of an item's last tile.
__device__ __forceinline__ void ScoresGroup::give_sums() {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float total = quad_sum(sum[half]);
    if (lane % 4 == 0) {
      ptx::store_shared(memory.sum(group, row(half)), __float_as_uint(total));
      ptx::store_shared(memory.sum(group, row(half)) + 4, __float_as_uint(offset[half]));
    }
  }
  ptx::mbarrier_arrive(memory.summed(group, warp));
}

/// With the last tile of an item: what the output is multiplied with at the end, and the LSE.
__device__ __forceinline__ void ScoresGroup::store_sums(const float (&others)[2],
                                                        float (&other_offsets)[2]) const {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float total =
        quad_sum(sum[half]) + others[half] * ptx::exp2_approx(offset[half] - other_offsets[half]);
    if (lane % 4 != 0) continue;
    ptx::store_shared(memory.inverse(group, row(half)),
                      __float_as_uint(total > 0 ? arguments.cache_scale / total : 0));
    if (row(half) >= item.row_count) continue;
    const float lse = total > 0 ? (log2f(total) - offset[half]) * kLn2 : -INFINITY;
    if (item.slot < 0) {
      arguments.lse[query_row(row(half))] = lse;
    } else {
      arguments.partial_lse[std::int64_t{item.slot} * arguments.tile_rows + row(half)] = lse;
    }
  }
}

}  // namespace headsplit::kernels::dense::mma
