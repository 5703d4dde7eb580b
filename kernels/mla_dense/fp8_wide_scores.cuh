#pragma once

#include "kernels/mla_dense/fp8_wide_softmax.cuh"

/// The scores' warpgroup from its first tile to its last.
namespace headsplit::kernels::dense::wide {

/// The scales of this thread's tokens, to the values' groups.
template <class Rows, int kRows>
__device__ __forceinline__ void ScoresGroup<Rows, kRows>::store_scales(std::uint32_t scales) const {
  const std::uint32_t at = memory.scales(weights.stage, lane % 4) + first_token() * 2;
  ptx::store_shared_16(at, static_cast<std::uint16_t>(scales));
  ptx::store_shared_16(at + 8 * 2, static_cast<std::uint16_t>(scales >> 16));
}

/// The latents of tokens from `from` on become zeros: what is there may be NaN, and weight 0 does
/// not undo that.
template <class Rows, int kRows>
__device__ __forceinline__ void ScoresGroup<Rows, kRows>::clear(int from) const {
  constexpr int kBoxes = kLatent / kTileRowBytes;
  for (int box = 0; box < kBoxes; ++box) {
    const std::uint32_t rows = memory.stage(ring.stage) + box * Row::kBoxBytes;
    for (int at = from * kTileRowBytes + (warp * 32 + lane) * 16; at < Row::kBoxBytes;
         at += kGroupThreads * 16) {
      ptx::store_shared(rows + at, {0.f, 0.f, 0.f, 0.f});
    }
  }
}

/// token: the tile's first.
template <class Rows, int kRows>
__device__ __forceinline__ void ScoresGroup<Rows, kRows>::tile(int token, bool first, bool last) {
  wait(memory.full(ring.stage), ring.parity);
  const std::uint32_t scales = load_scales();
  float scores[kScores];
  multiply(scores, scales);
  wgmma::wait<0>();
  wgmma::written(scores);
  mask(scores, token);
  float offset[kColumns];
#pragma unroll
  for (int j = 0; j < kColumns / 2; ++j) {
    std::uint32_t both[2];
    ptx::load_shared(both, memory.offset(8 * j + first_row()));
    offset[2 * j] = __uint_as_float(both[0]);
    offset[2 * j + 1] = __uint_as_float(both[1]);
  }
  wait(memory.spent(weights.stage), weights.parity ^ 1);
  const bool moves = ptx::barrier_or(kScoresBarrier, kGroupThreads, above(scores, offset));
  if (moves) move_references(scores, offset);
  weigh(scores, offset);
  if constexpr (!Row::kOneScale) store_scales(scales);
  if (warp == 0 && lane == 0) {
    ptx::store_shared(memory.rescale_flag(weights.stage), moves && !first ? 1u : 0u);
  }
  if (last) store_sums();
  if constexpr (Row::kOneScale) {
    if (item.token_end - token < kTokens) clear(item.token_end - token);
  }
  ptx::fence_async_proxy();
  ptx::mbarrier_arrive(memory.weighed(weights.stage));
  ring.advance(memory.kStages);
  weights.advance(memory.kWeightStages);
}

/// An item without tokens: nothing is attended to.
template <class Rows, int kRows>
__device__ __forceinline__ void ScoresGroup<Rows, kRows>::no_tokens() const {
  const int of_tile = warp * 32 + lane;
  if (of_tile >= item.row_count) return;
  if (item.slot < 0) {
    arguments.lse[query_row(of_tile)] = -INFINITY;
  } else {
    arguments.partial_lse[std::int64_t{item.slot} * arguments.tile_rows + of_tile] = -INFINITY;
  }
}

template <class Rows, int kRows>
__device__ __forceinline__ void ScoresGroup<Rows, kRows>::run() {
#pragma unroll 1
  for (int i = items.begin; i < items.end; ++i) {
    const WorkItem next = items.get(i);
    if (next.token_begin >= next.token_end) {
      item = next;
      no_tokens();
      continue;
    }
    begin(next);
#pragma unroll 1
    for (int token = item.token_begin; token < item.token_end; token += kTokens) {
      tile(token, token == item.token_begin, token + kTokens >= item.token_end);
    }
  }
}

}  // namespace headsplit::kernels::dense::wide
