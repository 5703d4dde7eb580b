#pragma once

#include "kernels/mla_dense/portable_item.cuh"
#include "kernels/mla_dense/portable_scores.cuh"
#include "kernels/mla_dense/portable_values.cuh"

/// A consumer warp from its first tile to its last.
namespace headsplit::kernels::dense {

/// Starts the copy of the first tile, where the first group loads.
template <TileShape kShape>
__device__ __forceinline__ void Consumer<kShape>::prime(const CtaItems& items) {
  for (int i = items.begin; i < items.end; ++i) {
    const WorkItem first = items.get(i);
    if (first.token_begin == first.token_end) continue;
    next.find(arguments, first.request, first.token_begin, first.token_end);
    next.start(arguments, memory.stage(0));
    ptx::cp_async_mbarrier_arrive(memory.full(0));
    return;
  }
}

/// Finds the tile after this one.  After the last there is none: its last token is loaded again,
/// and never used.
template <TileShape kShape>
__device__ __forceinline__ void Consumer<kShape>::find_next(const TilePlace& place) {
  int request = item.request;
  int token = place.token + kShape.tokens;
  int token_end = item.token_end;
  if (token >= token_end) {
    for (int i = place.item + 1; i < place.items.end; ++i) {
      const WorkItem later = place.items.get(i);
      if (later.token_begin == later.token_end) continue;
      request = later.request;
      token = later.token_begin;
      token_end = later.token_end;
      break;
    }
  }
  next.find(arguments, request, token, token_end);
}

/// Starts the copy of the next tile, into the stage of the one before this.
template <TileShape kShape>
__device__ __forceinline__ void Consumer<kShape>::copy_next() const {
  RingPosition other = ring;
  other.advance(kShape.stages_max());
  wait(memory.empty(other.stage), other.parity ^ 1);
  next.start(arguments, memory.stage(other.stage));
  ptx::cp_async_mbarrier_arrive(memory.full(other.stage));
}

template <TileShape kShape>
template <int kActive>
__device__ __forceinline__ void Consumer<kShape>::tile(const TilePlace& place) {
  float kept[kBlocks][kKeptTiles][4];
  {
    float scores[kBlocks][kScoreTiles][4] = {};
    take_turn();
    multiply_query<kActive>(scores);
    if (loads()) find_next(place);
    exchange(scores, kept);
  }
  mask(kept, place.token);
  float added[kBlocks][2];
  const bool above = weigh(kept, added);
  if (loads()) copy_next();
  if (group_barrier_or(above)) {
    move_references(kept);
    weigh(kept, added);
    group_barrier();
  }
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) sum[block][half] += added[block][half];
  }
  multiply_values<kActive>();
  ptx::mbarrier_arrive(memory.probabilities_read(group));
}

/// What a group without rows still does for the other one.
template <TileShape kShape>
__device__ __forceinline__ void Consumer<kShape>::sit_out() {
  take_turn();
  end_turn();
  wait(memory.probabilities_read(group), tile_parity);  // no phase may end that nobody waited for
  ptx::mbarrier_arrive(memory.probabilities_read(group));
}

template <TileShape kShape>
__device__ __forceinline__ void Consumer<kShape>::run(const CtaItems& items) {
  if (loads()) prime(items);
  for (int i = items.begin; i < items.end; ++i) {
    begin(items.get(i));
    for (int token = item.token_begin; token < item.token_end; token += kShape.tokens) {
      const TilePlace place{items, i, token};
      wait(memory.full(ring.stage), ring.parity);
      if (active_blocks == kBlocks) {
        tile<kBlocks>(place);
      } else if (active_blocks > 0) {
        tile<1>(place);
      } else {
        sit_out();
      }
      ptx::mbarrier_arrive(memory.empty(ring.stage));
      ring.advance(arguments.stages);
      tile_parity ^= 1;
    }
    if (active_blocks > 0) finish();
  }
  ptx::cp_async_wait_all();
}

}  // namespace headsplit::kernels::dense
