#pragma once

#include "kernels/mla_dense/hopper_queries.cuh"
#include "kernels/mla_dense/hopper_softmax.cuh"

/// The scores' warpgroup from its first tile to its last.
namespace headsplit::kernels::dense::hopper {

/// Lets the values' groups have the weights that were published last, if they do not yet.
template <bool kGather>
__device__ __forceinline__ void ScoresGroup<kGather>::hand_over() {
  if (weighed_stage >= 0) ptx::mbarrier_arrive(memory.weighed(weighed_stage));
  weighed_stage = -1;
}

/// Waits until the next tile has landed.
template <bool kGather>
__device__ __forceinline__ void ScoresGroup<kGather>::expect_tile() {
  wait(memory.full(landing.stage), landing.parity);
  landing.advance(kStages);
}

/// Starts the products of the queries and the next tile's keys, and hands over the weights of the
/// tile before the last in between.
template <bool kGather>
__device__ __forceinline__ void ScoresGroup<kGather>::multiply(float (&scores)[kScores]) {
  const std::uint64_t keys = wgmma::k_major<wgmma::Swizzle::bytes_128>(memory.stage(ahead.stage));
  const std::uint64_t queries = wgmma::k_major<wgmma::Swizzle::bytes_128>(memory.query(0));
  ahead.advance(kStages);
  wgmma::fence();
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const int slice = step / kStepsASlice;
    const int in_row = step % kStepsASlice * 2;  // 32 bytes / 16
    const std::uint64_t b = keys + slice * (kKeySliceBytes / 16) + in_row;
    if (slice < kRegisterSlices) {
      wgmma::m64n32k16(scores, query[step], b, step > 0);
    } else {
      const std::uint64_t a =
          queries + (slice - kRegisterSlices) * (kQuerySliceBytes / 16) + in_row;
      wgmma::m64n32k16(scores, a, b, true);
    }
    if (step == kHandOverStep) hand_over();
  }
  wgmma::commit();
}

/// The weights become visible to wgmma, as does the tile after the next, if there is one.  Where
/// that has not landed, the weights are handed over at once: the sooner they are used, the sooner
/// their stage is filled again.
template <bool kGather>
__device__ __forceinline__ void ScoresGroup<kGather>::publish(bool expect) {
  if (expect && !ptx::mbarrier_try_wait(memory.full(landing.stage), landing.parity)) {
    ptx::fence_async_proxy();
    hand_over();
    wait(memory.full(landing.stage), landing.parity);
  }
  if (expect) landing.advance(kStages);
  ptx::fence_async_proxy();
}

template <bool kGather>
__device__ __forceinline__ void ScoresGroup<kGather>::last_tile(float (&scores)[kScores],
                                                                int tile) {
  hand_over();
  wgmma::wait<0>();
  weigh(scores, tile, true);
  publish(false);
}

/// An item without tokens: nothing is attended to.
template <bool kGather>
__device__ __forceinline__ void ScoresGroup<kGather>::no_tokens() const {
  const int of_tile = warp * 32 + lane;
  if (of_tile >= item.row_count) return;
  if (item.slot < 0) {
    arguments.lse[query_row(of_tile)] = -INFINITY;
  } else {
    arguments.partial_lse[std::int64_t{item.slot} * arguments.tile_rows + of_tile] = -INFINITY;
  }
}

template <bool kGather>
__device__ __forceinline__ void ScoresGroup<kGather>::run() {
  for (int i = items.begin; i < items.end; ++i) {
    const WorkItem next = items.get(i);
    const int tiles = (next.token_end - next.token_begin + kTokens - 1) / kTokens;
    if (tiles == 0) {
      item = next;
      no_tokens();
      continue;
    }
    begin(next);
    expect_tile();
    ptx::fence_async_proxy();
    // Two tiles of scores: one is weighed while the products of the other are under way.
    float even[kScores];
    float odd[kScores];
    multiply(even);
    if (tiles > 1) {
      expect_tile();
      ptx::fence_async_proxy();
    }
    for (int tile = 0;; tile += 2) {
      if (tile + 1 == tiles) {
        last_tile(even, tile);
        break;
      }
      multiply(odd);
      wgmma::wait<1>();
      weigh(even, tile, false);
      publish(tile + 2 < tiles);
      if (tile + 2 == tiles) {
        last_tile(odd, tile + 1);
        break;
      }
      multiply(even);
      wgmma::wait<1>();
      weigh(odd, tile + 1, false);
      publish(tile + 3 < tiles);
    }
    hand_over();
  }
}

}  // namespace headsplit::kernels::dense::hopper
