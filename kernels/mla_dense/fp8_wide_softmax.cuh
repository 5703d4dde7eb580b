#pragma once

#include "kernels/mla_dense/fp8_wide_keys.cuh"

/// Scores to weights, relative to references that move seldom.
namespace headsplit::kernels::dense::wide {

template <class Rows, int kRows>
__device__ __forceinline__ void ScoresGroup<Rows, kRows>::mask(float (&scores)[kScores],
                                                               int token) const {
  if constexpr (Rows::kMasked) {
    const std::uint32_t counts =
        ptx::load_shared(memory.mask(ring.stage) + warp / 2 * 4) >> (first_token() % 32);
#pragma unroll
    for (int i = 0; i < kScores; ++i) {
      if ((counts >> (i / 2 % 2 * 8) & 1) == 0) scores[i] = -INFINITY;
    }
  }
  if (token + kTokens <= mask_begin) return;
#pragma unroll
  for (int j = 0; j < kColumns / 2; ++j) {
    std::uint32_t attended[2];
    ptx::load_shared(attended, memory.attended(8 * j + first_row()));
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int of_score = token + first_token() + e / 2 * 8;
      if (of_score >= static_cast<int>(attended[e % 2])) scores[4 * j + e] = -INFINITY;
    }
  }
}

/// Whether a weight would be too large.
template <class Rows, int kRows>
__device__ __forceinline__ bool ScoresGroup<Rows, kRows>::above(
    const float (&scores)[kScores], const float (&offset)[kColumns]) const {
  const float factor = score_factor();
  float largest = -INFINITY;
#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    const float* both = scores + i / 2 * 4 + i % 2;
    largest = fmaxf(largest, fmaf(fmaxf(both[0], both[2]), factor, offset[i]));
  }
  return largest > kWeightLift + kRescaleThreshold;
}

/// Moves the references of rows to their largest scores, where these are too far above, and says
/// what the output so far is to be multiplied with.  All warps of the group come here together.
template <class Rows, int kRows>
__device__ __forceinline__ void ScoresGroup<Rows, kRows>::move_references(
    const float (&scores)[kScores], float (&offset)[kColumns]) {
  const float factor = score_factor();
#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    const float* both = scores + i / 2 * 4 + i % 2;
    float largest = fmaxf(both[0], both[2]);
#pragma unroll
    for (int step = 4; step < 32; step *= 2) {
      largest = fmaxf(largest, __shfl_xor_sync(0xFFFFFFFF, largest, step));
    }
    if (lane < 4) {
      ptx::store_shared(memory.exchange(warp, i / 2 * 8 + first_row() + i % 2),
                        __float_as_uint(largest));
    }
  }
  barrier();
#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    const int row = i / 2 * 8 + first_row() + i % 2;
    float largest = -INFINITY;
#pragma unroll
    for (int w = 0; w < kGroupWarps; ++w) {
      largest = fmaxf(largest, __uint_as_float(ptx::load_shared(memory.exchange(w, row))));
    }
    largest *= factor;
    float rescale = 1;
    if (largest + offset[i] > kWeightLift + kRescaleThreshold) {
      rescale = ptx::exp2_approx(kWeightLift - largest - offset[i]);
      offset[i] = kWeightLift - largest;
      sum[i] *= rescale;
    }
    if (warp == 0 && lane < 4) {
      ptx::store_shared(memory.offset(row), __float_as_uint(offset[i]));
      ptx::store_shared(memory.rescale(weights.stage, row), __float_as_uint(rescale));
    }
  }
  barrier();
}

/// Weights of the tile's scores into shared memory.
template <class Rows, int kRows>
__device__ __forceinline__ void ScoresGroup<Rows, kRows>::weigh(const float (&scores)[kScores],
                                                                const float (&offset)[kColumns]) {
  const float factor = score_factor();
  // Matrices: rows of the first eight tokens, of the others, then the same of the next eight rows.
  const int token = 16 * warp + lane / 8 % 2 * 8 + fp8::token_of(lane % 8);
#pragma unroll
  for (int j = 0; j < kColumns / 2; j += 2) {
    std::uint32_t packed[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int of = j + i / 2;
      const float* both = scores + 4 * of + i % 2 * 2;
      const float low = ptx::exp2_approx(fmaf(both[0], factor, offset[2 * of]));
      const float high = ptx::exp2_approx(fmaf(both[1], factor, offset[2 * of + 1]));
      sum[2 * of] += low;
      sum[2 * of + 1] += high;
      packed[i] = ptx::pack_f16(low, high);
    }
    ptx::stmatrix_x4(memory.weights(weights.stage) + swizzled(token, j + lane / 16), packed);
  }
}

/// With the last tile of an item: what the output is multiplied with at the end, and the LSE.
template <class Rows, int kRows>
__device__ __forceinline__ void ScoresGroup<Rows, kRows>::store_sums() const {
#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    float total = sum[i];
#pragma unroll
    for (int step = 4; step < 32; step *= 2) total += __shfl_xor_sync(0xFFFFFFFF, total, step);
    if (lane < 4) {
      ptx::store_shared(memory.exchange(warp, i / 2 * 8 + first_row() + i % 2),
                        __float_as_uint(total));
    }
  }
  barrier();
  const int row = warp * 32 + lane;
  if (row >= kRows) return;
  float total = 0;
#pragma unroll
  for (int w = 0; w < kGroupWarps; ++w) {
    total += __uint_as_float(ptx::load_shared(memory.exchange(w, row)));
  }
  const float unit = Row::kOneScale ? arguments.cache_scale : 1 / kLift;
  ptx::store_shared(memory.inverse(weights.stage, row),
                    __float_as_uint(total > 0 ? unit / total : 0));
  if (row >= item.row_count) return;
  const float offset = __uint_as_float(ptx::load_shared(memory.offset(row)));
  const float lse = total > 0 ? (log2f(total) - offset) * kLn2 : -INFINITY;
  if (item.slot < 0) {
    arguments.lse[query_row(row)] = lse;
  } else {
    arguments.partial_lse[std::int64_t{item.slot} * arguments.tile_rows + row] = lse;
  }
}

}  // namespace headsplit::kernels::dense::wide
