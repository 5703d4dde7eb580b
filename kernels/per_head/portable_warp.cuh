#pragma once

#include "kernels/device/quad.cuh"
#include "kernels/device/tiles.cuh"
#include "kernels/per_head/portable_load.cuh"
#include "kernels/split/softmax_constants.h"

namespace headsplit::kernels::per_head {

/// One warp that computes attention of a block of 16 packed rows over its team's tokens.
template <Widths kWidths>
struct Warp {
  static constexpr int kQuerySteps = kWidths.d_k / 16;
  static constexpr int kOutputTiles = kWidths.d_v / 8;

  const SplitArguments& arguments;
  SharedMemory<kWidths> memory;
  Team team;
  Loader<kWidths> loader;
  int stage = 0;

  // Of the item:
  WorkItem item;
  std::uint32_t query[kQuerySteps][4];  ///< A operands
  float output[kOutputTiles][4];
  float reference[2];  ///< that exponentials are relative to, in log2; -inf before the first
  float sum[2];        ///< of this thread's weights
  int limit[2];        ///< tokens that this thread's rows attend to
  int mask_begin;      ///< blocks that reach past this token are masked
  int tokens_end;      ///< no row of the warp attends to tokens from here on

  /// This thread's rows of the tile: `half` 0 and 1 of the accumulators.
  __device__ int tile_row(int half) const { return team.first_row() + half * 8 + team.lane / 4; }
  __device__ bool is_row(int half) const { return tile_row(half) < item.row_count; }
  /// The same, as the query token of a batch's.
  __device__ int query_token(int half) const {
    const int request = item.request / arguments.kv_heads;
    const int token = (item.row_begin + tile_row(half)) / arguments.group_heads;
    return request * arguments.query_tokens + token;
  }
  /// The same, as a row of query, output and LSE.
  __device__ std::int64_t global_row(int half) const {
    const int group = arguments.group_heads;
    const int head =
        item.request % arguments.kv_heads * group + (item.row_begin + tile_row(half)) % group;
    return std::int64_t{query_token(half)} * (arguments.kv_heads * group) + head;
  }

  __device__ void load_query();
  __device__ void begin(const WorkItem& next);
  __device__ void multiply_query(float (&scores)[2][4], std::uint32_t block) const;
  __device__ void mask(float (&scores)[2][4], int token) const;
  __device__ void move_references(const float (&top)[2]);
  __device__ void weigh(const float (&scores)[2][4], std::uint32_t (&weights)[4]);
  __device__ void multiply_values(const std::uint32_t (&weights)[4], std::uint32_t block);
  __device__ void attend(std::uint32_t block, int token);

  __device__ bool merge();
  __device__ void scale_output(int half, float factor);
  __device__ void store_output(int half) const;
  __device__ void store_partial(int half) const;
  __device__ void finish();
  __device__ void run(int items_begin, int items_end);
};

/// This thread's pieces of the rows; rows and dimensions that are not there become zeros.
template <Widths kWidths>
__device__ __forceinline__ void Warp<kWidths>::load_query() {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const bool real = is_row(half);
    const std::uint16_t* const row =
        arguments.query + (real ? global_row(half) * arguments.d_k : 0) + team.lane % 4 * 2;
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

template <Widths kWidths>
__device__ __forceinline__ void Warp<kWidths>::begin(const WorkItem& next) {
  item = next;
  int least = 0x7FFFFFFF;
  int most = 0;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    reference[half] = -INFINITY;
    sum[half] = 0;
    limit[half] = 0x7FFFFFFF;  // of rows that are not there
    if (!is_row(half)) continue;
    limit[half] = min(item.token_end, arguments.ends[query_token(half)]);
    least = min(least, limit[half]);
    most = max(most, limit[half]);
  }
  mask_begin = __reduce_min_sync(0xFFFFFFFF, least);
  tokens_end = __reduce_max_sync(0xFFFFFFFF, most);
  load_query();
#pragma unroll
  for (int n = 0; n < kOutputTiles; ++n) {
#pragma unroll
    for (int e = 0; e < 4; ++e) output[n][e] = 0;
  }
}

/// All steps of all items.
template <Widths kWidths>
__device__ __forceinline__ void Warp<kWidths>::run(int items_begin, int items_end) {
  const int stages = arguments.stages;
  loader.item = items_begin;
  loader.items_end = items_end;
  loader.enter();
  for (int ahead = 0; ahead + 1 < stages; ++ahead) loader.start(ahead);
  for (int i = items_begin; i < items_end; ++i) {
    begin(arguments.items[i]);
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
