#pragma once

#include "kernels/mla_dense/portable_consumer.cuh"

/// Scores of a tile: queries x keys, halves added, what is not attended to masked.
namespace headsplit::kernels::dense {

/// Where a warp finds the operands of its scores: its half of the dimensions in steps of 16.  The
/// steps go through the slices first, so that most of an address is in the instruction.
template <TileShape kShape>
struct ScoreOperands {
  using Warp = Consumer<kShape>;
  static constexpr int kPairs = Warp::kScoreTiles / 2;  ///< of 8-token tiles: one ldmatrix
  static constexpr int kSlices = kShape.latent_slices() / 2;
  static constexpr int kLatentSteps = 4 * kSlices;
  static constexpr int kSteps = kLatentSteps + Warp::kRopeSteps;

  std::uint32_t query_base;
  std::uint32_t key_base[kPairs];
  std::uint32_t rope_base[kPairs];

  __device__ explicit ScoreOperands(const Warp& warp) {
    const int half = warp.dimension_half();
    const std::uint32_t stage = warp.memory.stage(warp.ring.stage);
    query_base = warp.memory.query(warp.group) + half * kSlices * Warp::kQuerySliceBytes +
                 LaneAddress::rows_first(warp.lane).at(0);
#pragma unroll
    for (int pair = 0; pair < kPairs; ++pair) {
      const std::uint32_t row = stage + warp.key_offset(pair);
      key_base[pair] = row + half * kSlices * Warp::kSliceBytes;
      rope_base[pair] = (row + kShape.latent_slices() * Warp::kSliceBytes) ^
                        std::uint32_t(half * Warp::kRopeSteps * 2 * kChunkBytes);
    }
  }
  __device__ void load_query(std::uint32_t (&query)[4], int step, int block) const {
    const std::uint32_t column = step / kSlices * 2 * kChunkBytes;
    ptx::ldmatrix_x4(query, (query_base ^ column) + step % kSlices * Warp::kQuerySliceBytes +
                                block * Warp::kBlockBytes);
  }
  __device__ void load_key(std::uint32_t (&key)[4], int step, int pair) const {
    if (step < kLatentSteps) {
      const std::uint32_t column = step / kSlices * 2 * kChunkBytes;
      ptx::ldmatrix_x4(key, (key_base[pair] ^ column) + step % kSlices * Warp::kSliceBytes);
    } else {
      ptx::ldmatrix_x4(key, rope_base[pair] ^ ((step - kLatentSteps) * 2 * kChunkBytes));
    }
  }
};

/// Scores of this warp's half of the tokens over its half of the dimensions.  scores[.][n]: the
/// 8-token tiles that this warp keeps come first, then those of its partner.
/// Operands of the next step are read between the multiplications of this one.
template <TileShape kShape>
template <int kActive>
__device__ __forceinline__ void Consumer<kShape>::multiply_query(
    float (&scores)[kBlocks][kScoreTiles][4]) const {
  using Operands = ScoreOperands<kShape>;
  constexpr int kPairs = Operands::kPairs;
  constexpr int kSteps = Operands::kSteps;
  constexpr int kKeyBuffers = kPairs > 1 ? 1 : 2;
  // Groups of 16 rows leave shared memory time: the other one may begin half-way.
  constexpr int kEarlyTurnSteps = kBlocks == 1 ? 8 : 0;
  const Operands operands(*this);
  std::uint32_t query[2][kBlocks][4];
  std::uint32_t key[kKeyBuffers][kPairs][4];
  const auto load_query = [&](int step, int block) {
    std::uint32_t(&to)[4] = query[step % 2][block];
    if (step < Operands::kLatentSteps) {
      operands.load_query(to, step, block);
    } else {
#pragma unroll
      for (int e = 0; e < 4; ++e) to[e] = rope_query[block][step - Operands::kLatentSteps][e];
    }
  };
#pragma unroll
  for (int block = 0; block < kActive; ++block) load_query(0, block);
#pragma unroll
  for (int pair = 0; pair < kPairs; ++pair) operands.load_key(key[0][pair], 0, pair);
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
#pragma unroll
    for (int pair = 0; pair < kPairs; ++pair) {
      std::uint32_t(&b)[4] = key[step % kKeyBuffers][pair];
      if (step + 1 < kSteps) {
        if (pair < kActive) load_query(step + 1, pair);
        if (kPairs == 1 && kActive > 1) load_query(step + 1, kActive - 1);
        if (kKeyBuffers > 1) {
          operands.load_key(key[(step + 1) % kKeyBuffers][pair], step + 1, pair);
        }
      }
#pragma unroll
      for (int block = 0; block < kActive; ++block) {
        ptx::mma_m16n8k16(scores[block][2 * pair], query[step % 2][block], b[0], b[1]);
        ptx::mma_m16n8k16(scores[block][2 * pair + 1], query[step % 2][block], b[2], b[3]);
      }
      if (kKeyBuffers == 1 && step + 1 < kSteps) operands.load_key(b, step + 1, pair);
    }
    if (step == kSteps - 1 - kEarlyTurnSteps) end_turn();
  }
}

/// Adds the two halves of the dimensions: each of the two warps keeps one half of their tokens.
template <TileShape kShape>
__device__ __forceinline__ void Consumer<kShape>::exchange(
    const float (&scores)[kBlocks][kScoreTiles][4], float (&kept)[kBlocks][kKeptTiles][4]) const {
  constexpr int kTileBytes = 32 * 16;
  const std::uint32_t mine = exchange_area(warp) + lane * 16;
  const std::uint32_t other = exchange_area(partner()) + lane * 16;
  wait(memory.probabilities_read(group), tile_parity);
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int n = 0; n < kKeptTiles; ++n) {
      ptx::store_shared(mine + (block * kKeptTiles + n) * kTileBytes,
                        scores[block][kKeptTiles + n]);
    }
  }
  pair_barrier();
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int n = 0; n < kKeptTiles; ++n) {
      float received[4];
      ptx::load_shared(received, other + (block * kKeptTiles + n) * kTileBytes);
#pragma unroll
      for (int e = 0; e < 4; ++e) kept[block][n][e] = scores[block][n][e] + received[e];
    }
  }
  __syncwarp();  // weights will be written over what the other lanes have read
}

/// Scores of entries of the index list that count for nothing become -infinity.
template <TileShape kShape>
__device__ __forceinline__ void Consumer<kShape>::mask_list(float (&kept)[kBlocks][kKeptTiles][4],
                                                            int token_begin) const {
  const std::int32_t* const list =
      arguments.page_table + std::int64_t{item.request} * arguments.pages_per_request;
  const int token = token_begin + token_half() * (kShape.tokens / 2) +
                    dimension_half() * (kShape.tokens / 4) + lane % 4 * 2;
#pragma unroll
  for (int n = 0; n < kKeptTiles; ++n) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int position = token + n * 8 + e;
      if (position < item.token_end && is_slot(arguments, __ldg(list + position))) continue;
#pragma unroll
      for (int block = 0; block < kBlocks; ++block) {
        kept[block][n][e] = -INFINITY;
        kept[block][n][2 + e] = -INFINITY;
      }
    }
  }
}

/// Scores of tokens that a row does not attend to become -infinity.
template <TileShape kShape>
__device__ __forceinline__ void Consumer<kShape>::mask(float (&kept)[kBlocks][kKeptTiles][4],
                                                       int token_begin) const {
  if constexpr (kShape.gather) return mask_list(kept, token_begin);
  if (token_begin + kShape.tokens <= mask_begin) return;
  const int* const ends = arguments.ends + item.request * arguments.query_tokens;
  const int token = token_begin + token_half() * (kShape.tokens / 2) +
                    dimension_half() * (kShape.tokens / 4) + lane % 4 * 2;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = item.row_begin + group_row() + thread_row(block, half);
      const int query_token = min(row / arguments.local_heads, arguments.query_tokens - 1);
      const int limit = min(item.token_end, ends[query_token]);
#pragma unroll
      for (int n = 0; n < kKeptTiles; ++n) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          if (token + n * 8 + e >= limit) kept[block][n][2 * half + e] = -INFINITY;
        }
      }
    }
  }
}

}  // namespace headsplit::kernels::dense
