#pragma once

#include "kernels/device/wgmma.cuh"
#include "kernels/mla_dense/fp8_mma_queries.cuh"
#include "kernels/mla_dense/fp8_mma_softmax.cuh"

/// The scores' groups from their first tile to their last.
namespace headsplit::kernels::dense::mma {

/// Asks for the queries of an item, if there is one, before they are needed.
__device__ __forceinline__ void ScoresGroup::expect_queries(int index) const {
  if (index >= items.end) return;
  const WorkItem next = items.get(index);
  constexpr int kLine = 128;
  const auto* const source = reinterpret_cast<const unsigned char*>(
      arguments.query +
      (std::int64_t{next.request} * arguments.packed_rows + next.row_begin) * kQk);
  for (int at = (group * kGroupThreads + warp * 32 + lane) * kLine; at < next.row_count * (2 * kQk);
       at += kScoresGroups * kGroupThreads * kLine) {
    ptx::prefetch_l2(source + at);
  }
}

/// Start of an item: its queries, half of the rows by each group.
__device__ __forceinline__ void ScoresGroup::begin(const WorkItem& next) {
  item = next;
  const int* const ends = arguments.ends + item.request * arguments.query_tokens;
  mask_begin = min(item.token_end, ends[0]);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int token = (item.row_begin + row(half)) / arguments.local_heads;
    attended[half] = min(item.token_end, ends[min(token, arguments.query_tokens - 1)]);
    offset[half] = kNoReference;
    sum[half] = 0;
  }
  ptx::barrier_sync(kScoresBarrier, kScoresGroups * kGroupThreads);  // the last ones have been read
  constexpr int kRowsARound = kGroupThreads / QueryRow::kLanes;
#pragma unroll 1
  for (int query = group * kRowsARound + (warp * 32 + lane) / QueryRow::kLanes; query < kRows;
       query += kScoresGroups * kRowsARound) {
    const bool real = query < item.row_count;
    QueryRow taken{.memory = memory, .row = query, .lane = lane % QueryRow::kLanes};
    taken.load(arguments.query + (real ? query_row(query) : 0) * kQk, real);
    taken.store(arguments.scale_log2 * arguments.cache_scale);
  }
  ptx::fence_async_proxy();
  ptx::barrier_sync(kScoresBarrier, kScoresGroups * kGroupThreads);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    factor[half] = __uint_as_float(ptx::load_shared(memory.factor(group, row(half))));
  }
  __syncwarp();  // all lanes have read where sums will be
}

__device__ __forceinline__ void ScoresGroup::multiply(float (&scores)[kScores]) const {
  const std::uint32_t tile = memory.stage(ring.stage);
  const auto a = wgmma::k_major<wgmma::Swizzle::bytes_128>(memory.query());
  const auto b = wgmma::k_major<wgmma::Swizzle::bytes_128>(tile);
  wgmma::fence();
#pragma unroll
  for (int step = 0; step < kLatent / 32; ++step) {
    const int at = step / 4 * (kSliceBytes / 16) + step % 4 * 2;
    wgmma::e4m3_product(scores, a + at, b + at, step > 0);
  }
  constexpr int kRopeAt = kLatentSlices * kSliceBytes;
  const auto rope_a = wgmma::k_major<wgmma::Swizzle::bytes_64>(memory.query() + kRopeAt);
  const auto rope_b = wgmma::k_major<wgmma::Swizzle::bytes_64>(tile + kRopeAt);
#pragma unroll
  for (int step = 0; step < kRope / 32; ++step) {
    wgmma::e4m3_product(scores, rope_a + 2 * step, rope_b + 2 * step, true);
  }
  wgmma::commit();
}

/// An item without tokens: nothing is attended to.
__device__ __forceinline__ void ScoresGroup::no_tokens() const {
  const int of_tile = warp * 32 + lane;
  if (group != 0 || of_tile >= item.row_count) return;
  if (item.slot < 0) {
    arguments.lse[query_row(of_tile)] = -INFINITY;
  } else {
    arguments.partial_lse[std::int64_t{item.slot} * arguments.tile_rows + of_tile] = -INFINITY;
  }
}

__device__ __forceinline__ void ScoresGroup::tile(int index, int tiles) {
  const int token = item.token_begin + index * kTokens;
  const bool last = index + 1 == tiles;
  float scores[kScores];
  wait(memory.full(ring.stage), ring.parity);
  ptx::fence_async_proxy();  // rows come by cp.async
  multiply(scores);
  wait(memory.spent(group), parity ^ 1);  // so a stage is free, too
  load_ahead();
  wgmma::wait<0>();
  wgmma::written(scores);
  if (token + kTokens > mask_begin) mask(scores, token);
  float others[2] = {};
  float other_offsets[2] = {offset[0], offset[1]};
  if (last && tiles > 1) {
    wait(memory.summed(1 - group, warp), summed_parity);
    summed_parity ^= 1;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t at = memory.sum(1 - group, row(half));
      others[half] = __uint_as_float(ptx::load_shared(at));
      other_offsets[half] = __uint_as_float(ptx::load_shared(at + 4));
    }
  }
  choose_offsets(scores, index == 0);
  store_offsets(index, last);
  weigh(scores);
  if (index + 2 == tiles) give_sums();
  if (last) store_sums(others, other_offsets);
  ptx::fence_async_proxy();
  ptx::mbarrier_arrive(memory.weighed(group));
  parity ^= 1;
}

__device__ __forceinline__ void ScoresGroup::load_ahead() {
  loader.start(filled);
  loader.find();
  filled = (filled + kScoresGroups) % SharedMemory::kStages;
}

/// Tiles that are loaded before the first is met: a group loads the other's.
__device__ __forceinline__ void ScoresGroup::fill_ring() {
  loader.begin();
  filled = 1 - group;
  if (group == 0) loader.skip();
  loader.find();
  for (int tile = filled; tile < kAhead; tile += kScoresGroups) load_ahead();
}

__device__ __forceinline__ void ScoresGroup::run() {
  expect_queries(items.begin);
  fill_ring();
#pragma unroll 1
  for (int i = items.begin; i < items.end; ++i) {
    const WorkItem next = items.get(i);
    const int tiles = (next.token_end - next.token_begin + kTokens - 1) / kTokens;
    if (tiles <= 0) {
      item = next;
      no_tokens();
      continue;
    }
    begin(next);
    expect_queries(i + 1);
#pragma unroll 1
    for (int index = 0; index < tiles; ++index) {
      if (next_group == group) tile(index, tiles);
      next_group ^= 1;
      ring.advance(SharedMemory::kStages);
    }
  }
}

}  // namespace headsplit::kernels::dense::mma
