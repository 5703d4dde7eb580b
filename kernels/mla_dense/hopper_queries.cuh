#pragma once

#include "kernels/mla_dense/hopper_scores_group.cuh"

/// Start of an item: its queries.
namespace headsplit::kernels::dense::hopper {

__device__ __forceinline__ void ScoresGroup::load_shared_query() const {
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

__device__ __forceinline__ void ScoresGroup::load_register_query() {
  const std::uint32_t* source[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int of_tile = min(row(half), item.row_count - 1);  // rows past the end repeat the last
    source[half] = reinterpret_cast<const std::uint32_t*>(
        arguments.query + query_row(of_tile) * kTile.d_qk() + lane % 4 * 2);
  }
#pragma unroll
  for (int step = 0; step < kRegisterSlices * kStepsASlice; ++step) {
#pragma unroll
    for (int e = 0; e < 4; ++e) query[step][e] = __ldg(source[e % 2] + step * 8 + e / 2 * 4);
  }
}

__device__ __forceinline__ void ScoresGroup::begin(const WorkItem& next) {
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
  ptx::cp_async_wait_all();
  ptx::fence_async_proxy();
  ptx::barrier_sync(kScoresBarrier, kGroupThreads);
}

}  // namespace headsplit::kernels::dense::hopper
