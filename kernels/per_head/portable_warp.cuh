#pragma once

#include "kernels/device/quad.cuh"
#include "kernels/device/tiles.cuh"
#include "kernels/per_head/portable_load.cuh"
#include "kernels/split/softmax_constants.h"

namespace headsplit::kernels::per_head {

/// One warp that computes attention of its blocks of 16 packed rows over its team's tokens.
template <TileShape kShape>
struct Warp {
  static constexpr int kBlocks = kShape.blocks;
  static constexpr int kQuerySteps = kShape.d_k / 16;
  static constexpr int kOutputTiles = kShape.d_v / 8;
  /// Of its rows and 16 tokens.
  using Scores = float[kBlocks][2][4];
  using Weights = std::uint32_t[kBlocks][4];

  const SplitArguments& arguments;
  CtaItems items;
  SharedMemory<kShape> memory;
  Team team;
  Loader<kShape> loader;
  int stage = 0;

  // Of the item:
  WorkItem item;
  std::uint32_t query[kShape.shares_query() ? 1 : kQuerySteps][4];  ///< A operands
  float output[kBlocks][kOutputTiles][4];
  float reference[kBlocks]
                 [2];     ///< that exponentials are relative to, in log2; -inf before the first
  float sum[kBlocks][2];  ///< of this thread's weights
  int mask_begin;         ///< blocks that reach past this token are masked
  int tokens_end;         ///< no row of the warp attends to tokens from here on

  /// This thread's rows of the warp, and of the tile: `half` 0 and 1 of the accumulators.
  __device__ int warp_row(int block, int half) const {
    return block * kBlock + half * 8 + team.lane / 4;
  }
  __device__ int tile_row(int block, int half) const {
    return team.row_warp() * kShape.warp_rows() + warp_row(block, half);
  }
  __device__ bool is_row(int of_tile) const { return of_tile < item.row_count; }
  /// A row of the tile, as the query token of a batch's.
  __device__ int query_token(int of_tile) const {
    const int request = item.request / arguments.kv_heads;
    return request * arguments.query_tokens + (item.row_begin + of_tile) / arguments.group_heads;
  }
  /// The same, as a row of query, output and LSE.
  __device__ std::int64_t global_row(int of_tile) const {
    const int group = arguments.group_heads;
    const int head = item.request % arguments.kv_heads * group + (item.row_begin + of_tile) % group;
    return std::int64_t{query_token(of_tile)} * (arguments.kv_heads * group) + head;
  }

  /// Tokens of the item that a row of the tile attends to; of rows that are not there, all.
  __device__ int limit(int of_tile) const {
    if (!is_row(of_tile)) return 0x7FFFFFFF;
    return min(item.token_end, __ldg(arguments.ends + query_token(of_tile)));
  }

  __device__ void load_query();
  __device__ void share_query() const;
  __device__ void begin(const WorkItem& next);
  __device__ void multiply_query(Scores& scores, std::uint32_t tokens) const;
  __device__ void mask(Scores& scores, int token) const;
  __device__ void move_references(const float (&top)[kBlocks][2]);
  __device__ void weigh(const Scores& scores, Weights& weights);
  __device__ void multiply_values(const Weights& weights, std::uint32_t tokens);
  __device__ void attend(std::uint32_t tokens, int token);

  __device__ void share_sums() const;
  __device__ void merge_sums(int block, int half);
  __device__ bool merge();
  __device__ void scale_output(int block, int half, float factor);
  __device__ void store_output(int block, int half) const;
  __device__ void store_partial(int block, int half) const;
  __device__ void finish();
  __device__ void run();
};

/// This thread's pieces of the rows; rows and dimensions that are not there become zeros.
template <TileShape kShape>
__device__ __forceinline__ void Warp<kShape>::load_query() {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int of_tile = tile_row(0, half);
    const bool real = is_row(of_tile);
    const std::uint16_t* const row =
        arguments.query + (real ? global_row(of_tile) * arguments.d_k : 0) + team.lane % 4 * 2;
#pragma unroll
    for (int step = 0; step < kQuerySteps; ++step) {
#pragma unroll
      for (int high = 0; high < 2; ++high) {
        const auto* source = reinterpret_cast<const std::uint32_t*>(row + step * 16 + high * 8);
        query[step][2 * high + half] = real && step * 16 < arguments.d_k ? __ldg(source) : 0;
      }
    }
  }
}

/// The rows of the tile into shared memory, by all warps; rows that are not there become zeros.
template <TileShape kShape>
__device__ __forceinline__ void Warp<kShape>::share_query() const {
  __syncthreads();  // the last item's have been used
  const int chunk = threadIdx.x % kTileRowChunks;
  for (int row = threadIdx.x / kTileRowChunks; row < kShape.warp_rows();
       row += 32 * kWarps / kTileRowChunks) {
    const bool real = is_row(row);
    const std::int64_t first = real ? global_row(row) * arguments.d_k : 0;
    const std::uint32_t target = memory.query(row / kBlock) + swizzled(row % kBlock, chunk);
#pragma unroll
    for (int slice = 0; slice < kShape.key_slices(); ++slice) {
      const int dim = slice * kTileRowValues + chunk * 8;
      if (dim >= arguments.d_k) continue;
      float4 values = make_float4(0, 0, 0, 0);
      if (real) values = __ldg(reinterpret_cast<const float4*>(arguments.query + first + dim));
      const float of_row[4] = {values.x, values.y, values.z, values.w};
      ptx::store_shared(target + slice * TileShape::kSliceBytes, of_row);
    }
  }
  __syncthreads();
}

template <TileShape kShape>
__device__ __forceinline__ void Warp<kShape>::begin(const WorkItem& next) {
  item = next;
  int least = 0x7FFFFFFF;
  int most = 0;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      reference[block][half] = -INFINITY;
      sum[block][half] = 0;
      const int of_tile = tile_row(block, half);
      least = min(least, limit(of_tile));
      most = max(most, is_row(of_tile) ? limit(of_tile) : 0);
    }
#pragma unroll
    for (int n = 0; n < kOutputTiles; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) output[block][n][e] = 0;
    }
  }
  mask_begin = __reduce_min_sync(0xFFFFFFFF, least);
  tokens_end = __reduce_max_sync(0xFFFFFFFF, most);
  if constexpr (kShape.shares_query()) {
    share_query();
  } else {
    load_query();
  }
}

/// All steps of all items.
template <TileShape kShape>
__device__ __forceinline__ void Warp<kShape>::run() {
  const int stages = arguments.stages;
  loader.item = items.begin;
  loader.enter();
  for (int ahead = 0; ahead + 1 < stages; ++ahead) loader.start(ahead);
  for (int i = items.begin; i < items.end; ++i) {
    begin(items.get(i));
    for (int token = team.first_token(item); token < item.token_end; token += kStepTokens) {
      wait_for_step(stages);
      team.barrier();  // and all of the team are done with the step before
      loader.start(stage == 0 ? stages - 1 : stage - 1);
      const int first_warp = team.warp - team.row_warp();
#pragma unroll 1
      for (int block = 0; block < team.row_warps; ++block) {
        const int block_token = token + block * kBlock;
        if (block_token >= tokens_end) break;
        attend(memory.block(stage, first_warp + block), block_token);
      }
      stage = stage + 1 == stages ? 0 : stage + 1;
    }
    finish();
  }
}

}  // namespace headsplit::kernels::per_head
