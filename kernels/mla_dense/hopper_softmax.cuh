#pragma once

#include "kernels/mla_dense/hopper_scores_group.cuh"

/// Scores to weights, relative to references that move seldom.
namespace headsplit::kernels::dense::hopper {

/// scores: of 8 x i + 2 x (lane % 4) + {0, 1}, i = 0.., in [4 x i + 2 x half + {0, 1}].
template <bool kGather>
__device__ __forceinline__ void ScoresGroup<kGather>::mask(float (&scores)[kScores],
                                                           int token) const {
#pragma unroll
  for (int i = 0; i < kScores; ++i) {
    const int column = token + i / 4 * 8 + lane % 4 * 2 + i % 2;
    if (column >= attended[i / 2 % 2]) scores[i] = -INFINITY;
  }
}

/// Asks for the entries of the index list of the tile that begins at `token`.
template <bool kGather>
__device__ __forceinline__ void ScoresGroup<kGather>::find_entries(int token) {
  const std::int32_t* const list =
      arguments.page_table + std::int64_t{item.request} * arguments.pages_per_request;
  const int position = token + lane;
  entry = position < item.token_end ? __ldg(list + position) : kNoSlot;
}

/// The same of entries of the list that count for nothing; asks for those of the next tile, which
/// are there by the time that they are wanted.
template <bool kGather>
__device__ __forceinline__ void ScoresGroup<kGather>::mask_list(float (&scores)[kScores],
                                                                int token) {
  const std::uint32_t counts =
      __ballot_sync(0xFFFFFFFF, is_slot(arguments, entry)) >> (lane % 4 * 2);
  find_entries(token + kTokens);
#pragma unroll
  for (int i = 0; i < kScores; ++i) {
    if ((counts >> (i / 4 * 8 + i % 2) & 1) == 0) scores[i] = -INFINITY;
  }
}

template <bool kGather>
__device__ __forceinline__ bool ScoresGroup<kGather>::above(const float (&scores)[kScores]) const {
  bool any = false;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float largest = -INFINITY;
#pragma unroll
    for (int i = 0; i < kScores / 4; ++i) {
      largest = fmaxf(largest, fmaxf(scores[4 * i + 2 * half], scores[4 * i + 2 * half + 1]));
    }
    // False for -inf against -inf: a row that has attended to nothing stays so.
    any |= largest * arguments.scale_log2 > reference[half] + kRescaleThreshold;
  }
  return any;
}

/// Moves the references of this warp's rows to their largest scores, where these are above, and
/// says what the output so far is to be multiplied with.
template <bool kGather>
__device__ __forceinline__ void ScoresGroup<kGather>::move_references(
    const float (&scores)[kScores], bool first) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float largest = -INFINITY;
#pragma unroll
    for (int i = 0; i < kScores / 4; ++i) {
      largest = fmaxf(largest, fmaxf(scores[4 * i + 2 * half], scores[4 * i + 2 * half + 1]));
    }
    largest = quad_max(largest) * arguments.scale_log2;
    float factor = 1;
    if (largest > reference[half] + kRescaleThreshold) {
      factor = ptx::exp2_approx(reference[half] - largest);
      reference[half] = largest;
      sum[half] *= factor;
    }
    if (!first && lane % 4 == 0) {
      ptx::store_shared(memory.rescale(ring.stage, row(half)), __float_as_uint(factor));
    }
  }
}

/// Weights of the tile's scores into shared memory.  tile: of the item.
template <bool kGather>
__device__ __forceinline__ void ScoresGroup<kGather>::weigh(float (&scores)[kScores], int tile,
                                                            bool last) {
  wgmma::written(scores);
  const int token = item.token_begin + tile * kTokens;
  if constexpr (kGather) {
    mask_list(scores, token);
  } else if (token + kTokens > mask_begin) {
    mask(scores, token);
  }
  const bool moves = __any_sync(0xFFFFFFFF, above(scores));
  if (moves) move_references(scores, tile == 0);
  if (lane == 0) {
    ptx::store_shared(memory.rescale_flag(ring.stage, warp), moves && tile > 0 ? 1u : 0u);
  }
  std::uint32_t packed[kScores / 2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    // A row that has attended to nothing yet has weights 2^-infinity.
    const float offset = reference[half] == -INFINITY ? 0 : reference[half];
#pragma unroll
    for (int i = 0; i < kScores / 4; ++i) {
      const float low =
          ptx::exp2_approx(fmaf(scores[4 * i + 2 * half], arguments.scale_log2, -offset));
      const float high =
          ptx::exp2_approx(fmaf(scores[4 * i + 2 * half + 1], arguments.scale_log2, -offset));
      sum[half] += low + high;
      packed[2 * i + half] = ptx::pack_bf16(low, high);
    }
  }
  // Matrices of 16 tokens: rows 0-7 and 8-15 of the first eight tokens, then of the others.
  const int matrix_row = warp * 16 + lane % 16;
#pragma unroll
  for (int step = 0; step < kTokens / 16; ++step) {
    const int chunk = (2 * step + lane / 16) ^ (matrix_row / 2 % 4);
    ptx::stmatrix_x4(
        memory.weights(ring.stage) + matrix_row * kWeightRowBytes + chunk * kChunkBytes,
        {packed[4 * step], packed[4 * step + 1], packed[4 * step + 2], packed[4 * step + 3]});
  }
  if (last) store_sums();
  weighed_stage = ring.stage;
  ring.advance(kStages);
}

/// With the last tile of an item: what the output is multiplied with at the end, and the LSE.
template <bool kGather>
__device__ __forceinline__ void ScoresGroup<kGather>::store_sums() {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float total = quad_sum(sum[half]);
    if (lane % 4 != 0) continue;
    ptx::store_shared(memory.inverse(ring.stage, row(half)),
                      __float_as_uint(total > 0 ? 1 / total : 0));
    if (row(half) >= item.row_count) continue;
    const float lse = total > 0 ? (reference[half] + log2f(total)) * kLn2 : -INFINITY;
    if (item.slot < 0) {
      arguments.lse[query_row(row(half))] = lse;
    } else {
      arguments.partial_lse[std::int64_t{item.slot} * arguments.tile_rows + row(half)] = lse;
    }
  }
}

}  // namespace headsplit::kernels::dense::hopper
