#pragma once

#include "kernels/mla_dense/hopper_scores_group.cuh"

/// Start of an item: its queries.
namespace headsplit::kernels::dense::hopper {

template <bool kGather>
__device__ __forceinline__ void ScoresGroup<kGather>::load_shared_query() const {
  constexpr int kRowsAStep = kGroupThreads / kTileRowChunks;
  const int thread = warp * 32 + lane;
  const int chunk = thread % kTileRowChunks;
#pragma unroll
  for (int row = thread / kTileRowChunks; row < kRows; row += kRowsAStep) {
    const bool real = row < item.row_count;
    const std::uint16_t* source = arguments.query + (real ? query_row(row) * kTile.d_qk() : 0) +
                                  kRegisterSlices * kTileRowValues + chunk * 8;
#pragma unroll
    for (int slice = 0; slice < kSharedSlices; ++slice) {
      ptx::cp_async_16_or_zeros(memory.query(slice) + swizzled(row, chunk),
                                source + slice * kTileRowValues, real);
    }
  }
}

/// Four lanes read 64 bytes of a row, which are the operands of two products of one row each.
template <bool kGather>
__device__ __forceinline__ void ScoresGroup<kGather>::load_register_query() {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int of_tile = min(row(half), item.row_count - 1);  // rows past the end repeat the last
    const std::uint16_t* source =
        arguments.query + query_row(of_tile) * kTile.d_qk() + lane % 4 * 8;
#pragma unroll
    for (int step = 0; step < kRegisterSlices * kStepsASlice; step += 2) {
      const uint4 read = __ldg(reinterpret_cast<const uint4*>(source + step * 16));
      query[step][half] = read.x;
      query[step][half + 2] = read.y;
      query[step + 1][half] = read.z;
      query[step + 1][half + 2] = read.w;
    }
  }
#pragma unroll
  for (int step = 0; step < kRegisterSlices * kStepsASlice; step += 2) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      std::uint32_t words[4] = {query[step][half], query[step][half + 2], query[step + 1][half],
                                query[step + 1][half + 2]};
      quad_transpose(words, lane);
      query[step][half] = words[0];
      query[step][half + 2] = words[1];
      query[step + 1][half] = words[2];
      query[step + 1][half + 2] = words[3];
    }
  }
}

template <bool kGather>
__device__ __forceinline__ void ScoresGroup<kGather>::begin(const WorkItem& next) {
  item = next;
  const int* const ends = arguments.ends + item.request * arguments.query_tokens;
  ptx::barrier_sync(kScoresBarrier, kGroupThreads);  // the last item's queries have been read
  load_shared_query();
  load_register_query();
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int token = (item.row_begin + row(half)) / arguments.local_heads;
    attended[half] = min(item.token_end, ends[min(token, arguments.query_tokens - 1)]);
    reference[half] = -INFINITY;
    sum[half] = 0;
  }
  mask_begin = min(item.token_end, ends[0]);
  if constexpr (kGather) find_entries(item.token_begin);
  ptx::cp_async_wait_all();
  ptx::fence_async_proxy();
  ptx::barrier_sync(kScoresBarrier, kGroupThreads);
}

}  // namespace headsplit::kernels::dense::hopper
