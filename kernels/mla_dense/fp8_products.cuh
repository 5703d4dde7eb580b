#pragma once

#include "kernels/mla_dense/fp8_warp.cuh"

/// Queries x keys and weights x values, from the cache's rows as they lie.
namespace headsplit::kernels::dense::fp8 {

/// Multiplies scores of a tile with the scales of their tokens.  Gives these, of this thread's two
/// columns, lifted, for the weights.
template <class Row>
__device__ __forceinline__ std::uint32_t WarpOn<Row>::scale_scores(std::uint32_t stage, int tile,
                                                                   float (&sum_of)[4]) const {
  const std::uint32_t first = scale_address(stage, tile * 8 + lane % 4);
  const float low = __uint_as_float(ptx::load_shared(first));
  const float high = __uint_as_float(ptx::load_shared(first + 4 * Row::kBytes));
  sum_of[0] *= low;
  sum_of[1] *= high;
  sum_of[2] *= low;
  sum_of[3] *= high;
  return ptx::pack_f16(low * kLift, high * kLift);
}

/// scores: of all rows and tokens, by this warp's dimensions.  scales: as scale_scores gives
/// them, of each tile.
///
/// A lane reads 16 values of a token that follow each other.  Which of them are its k of which
/// product does not matter as long as the queries are laid out alike (begin).
template <class Row>
__device__ __forceinline__ void WarpOn<Row>::multiply_keys(std::uint32_t stage,
                                                           float (&scores)[kTiles][4],
                                                           std::uint32_t (&scales)[kTiles]) const {
  const int in_quad = lane % 4;
  constexpr int kWarpChunks = kScaleWidth / kChunkBytes;
  const int token = token_of(lane / 4);
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
    const std::uint32_t rows = stage + tile * Row::kEightTokens;
    std::uint32_t key[2][4];
    ptx::load_shared(key[0], Row::chunk(rows, token, warp * kWarpChunks + in_quad));
    ptx::load_shared(key[1], Row::chunk(rows, token, warp * kWarpChunks + 4 + in_quad));
    float(&sum_of)[4] = scores[tile];
    sum_of[0] = sum_of[1] = sum_of[2] = sum_of[3] = 0;
#pragma unroll
    for (int step = 0; step < 8; ++step) {
      std::uint32_t first;
      std::uint32_t second;
      ptx::e4m3_to_f16(first, second, key[step / 4][step % 4]);
      ptx::mma_m16n8k16_f16(sum_of, query[step], first, second);
    }
    if constexpr (Row::kOneScale) {
      std::uint32_t first;
      std::uint32_t second;
      ptx::e4m3_to_f16(first, second,
                       ptx::load_shared(Row::chunk(rows, token, Row::kRopeAt / kChunkBytes + warp) +
                                        4 * in_quad));
      ptx::mma_m16n8k16_f16(sum_of, rope_query, first, second);
    } else {
      scales[tile] = scale_scores(stage, tile, sum_of);
      std::uint32_t rope[2];
      ptx::load_shared(
          rope, Row::chunk(rows, token, Row::kRopeAt / kChunkBytes + 2 * warp) + 8 * in_quad);
      ptx::mma_m16n8k16(sum_of, rope_query, rope[0], rope[1]);
    }
  }
}

/// Scores of the tokens that other warps weigh, to them.
template <class Row>
__device__ __forceinline__ void WarpOn<Row>::hand_out(const float (&scores)[kTiles][4]) const {
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
    const int to = tile / kTilesAWarp;
    if (to == warp) continue;
    ptx::store_shared(memory.exchange(to, warp, tile % kTilesAWarp, lane), scores[tile]);
  }
}

template <class Row>
__device__ __forceinline__ void WarpOn<Row>::collect(float (&mine)[kTilesAWarp][4],
                                                     const float (&scores)[kTiles][4]) const {
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
    if (tile / kTilesAWarp != warp) continue;
#pragma unroll
    for (int e = 0; e < 4; ++e) mine[tile % kTilesAWarp][e] = scores[tile][e];
  }
#pragma unroll
  for (int other = 1; other < kWarps; ++other) {
#pragma unroll
    for (int tile = 0; tile < kTilesAWarp; ++tile) {
      float part[4];
      ptx::load_shared(part, memory.exchange(warp, (warp + other) % kWarps, tile, lane));
#pragma unroll
      for (int e = 0; e < 4; ++e) mine[tile][e] += part[e];
    }
  }
}

/// ldmatrix transposes pairs of bytes: a register has two tokens' values of two dimensions, and
/// after a permutation of its bytes those of an even dimension in its low half, of an odd one in
/// its high half.
template <class Row>
__device__ __forceinline__ void WarpOn<Row>::multiply_values(
    std::uint32_t stage, const std::uint32_t (&scales)[kTiles]) {
  constexpr std::uint32_t kByDimension = 0x3120;
  const int token = lane / 8 % 2 * 8 + token_of(lane % 8);
  const int first_chunk = (warp * kScaleWidth) / kChunkBytes + lane / 16;
  const LaneAddress of_weights = LaneAddress::rows_first(lane);
#pragma unroll
  for (int step = 0; step < kTokens / 16; ++step) {
    std::uint32_t weights[4];
    ptx::ldmatrix_x4(weights, memory.weights() + of_weights.at(step));
    if constexpr (!Row::kOneScale) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        weights[i] = ptx::multiply_f16x2(weights[i], scales[2 * step + i / 2]);
      }
    }
#pragma unroll
    for (int column = 0; column < 4; ++column) {  // of 32 dimensions
      std::uint32_t pairs[4];
      ptx::ldmatrix_x4_trans(
          pairs, Row::chunk(stage + 2 * step * Row::kEightTokens, token, first_chunk + 2 * column));
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        std::uint32_t even[2];
        std::uint32_t odd[2];
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          ptx::e4m3_to_f16(even[k], odd[k], __byte_perm(pairs[2 * half + k], 0, kByDimension));
        }
        const int tile = 4 * column + 2 * half;
        ptx::mma_m16n8k16_f16(output[tile], weights, even[0], even[1]);
        ptx::mma_m16n8k16_f16(output[tile + 1], weights, odd[0], odd[1]);
      }
    }
  }
}

}  // namespace headsplit::kernels::dense::fp8
