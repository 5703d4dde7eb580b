#pragma once

#include "kernels/device/ring.cuh"
#include "kernels/mla_dense/fp8_loader.cuh"
#include "kernels/mla_dense/fp8_wide_shape.h"
#include "kernels/mla_dense/split_arguments.h"
#include "kernels/split/cta_items.cuh"

/// The cache into the ring of stages.
namespace headsplit::kernels::dense::wide {

/// A stage to be filled, as 32-bit addresses.
struct Stage {
  std::uint32_t rows;  ///< of kStageTokens tokens, where Row::chunk says
  std::uint32_t mask;  ///< 64 bits: rows that count
  std::uint32_t full;  ///< the barrier: one arrival and the bytes that come
};

/// Rows that no token comes to become zeros: what was there before may be NaN, and weight 0 does
/// not undo that.
template <class Row>
__device__ __forceinline__ void clear_rows(std::uint32_t rows, int from, int lane) {
  for (std::uint32_t at = from * Row::kBytes + lane * 16; at < kStageBytes<Row>; at += 32 * 16) {
    ptx::store_shared(rows + at, {0.f, 0.f, 0.f, 0.f});
  }
  ptx::fence_async_proxy();  // the copy engine writes there next
}

/// How rows of the cache come into a stage: runs of tokens of a page each, by the copy engine.
///
/// Such a policy has Row (what rows are made of), Arguments (what the kernel is launched with),
/// kMasked (whether it writes masks of the rows that count), kWarps that load together, 4 at most,
/// kArrivals (theirs for a stage) and these three functions, which all lanes of these warps call.
template <class OfCache>
struct PagedRows {
  using Row = OfCache;
  using Arguments = SplitArguments;
  static constexpr bool kMasked = false;
  static constexpr int kWarps = 1;
  static constexpr int kArrivals = 1;

  const SplitArguments& arguments;
  int warp;  ///< of the loading ones
  int lane;
  const std::int32_t* pages = nullptr;  ///< of the item's request

  __device__ void begin(const WorkItem& item) {
    pages = arguments.page_table + std::int64_t{item.request} * arguments.pages_per_request;
  }

  /// Starts the copies of `count` tokens from `token` on, which is a multiple of kStageTokens; all
  /// other rows of the stage become zeros, where the scores' group does not see to that (clear).
  /// Arrives once.
  __device__ void fill(const Stage& stage, int token, int count) const {
    if (!Row::kOneScale && count < kStageTokens) clear_rows<Row>(stage.rows, count, lane);
    const int page_tokens = 1 << arguments.page_shift;
    const int run = min(page_tokens, kStageTokens);
    const int first = lane * run;
    const bool mine = first < count;
    const int page = mine ? __ldg(pages + ((token + first) >> arguments.page_shift)) : 0;
    const int tokens = Row::kOneScale ? __popc(__ballot_sync(0xFFFFFFFF, mine)) * run : count;
    __syncwarp();
    if (lane == 0) ptx::mbarrier_arrive_expect(stage.full, fp8::run_bytes<Row>(tokens));
    __syncwarp();
    if (mine) {
      const auto row =
          (std::int64_t{page} << arguments.page_shift) + ((token + first) & (page_tokens - 1));
      fp8::copy_run<Row>(arguments, stage.rows, first, row, min(run, count - first), stage.full);
    }
  }

  /// Starts the copy of queries that follow each other.  Arrives once.
  __device__ void fill_queries(const Stage& stage, const std::uint16_t* source, int bytes) const {
    if (lane > 0) return;
    ptx::mbarrier_arrive_expect(stage.full, bytes);
    if (bytes > 0) ptx::copy_bytes(stage.rows, source, bytes, stage.full);
  }
};

/// A loading warp: queries and tiles of all items of the CTA, one after the other.
template <class Rows, int kRows>
struct Loader {
  SharedMemory<kRows, typename Rows::Row> memory;
  split::CtaItems<typename Rows::Arguments> items;
  Rows rows;

  __device__ Stage stage(const RingPosition& ring) const {
    return {memory.stage(ring.stage), memory.mask(ring.stage), memory.full(ring.stage)};
  }
  __device__ void run() {
    RingPosition ring{};
    for (int i = items.begin; i < items.end; ++i) {
      const WorkItem item = items.get(i);
      if (item.token_begin >= item.token_end) continue;
      rows.begin(item);
      for (int row = 0; row < kRows; row += kQueryRows) {
        wait(memory.used(ring.stage), ring.parity ^ 1);
        const std::int64_t first =
            std::int64_t{item.request} * rows.arguments.packed_rows + item.row_begin + row;
        const int count = min(kQueryRows, max(0, item.row_count - row));
        rows.fill_queries(stage(ring), rows.arguments.query + first * kQk, count * kQk * 2);
        ring.advance(memory.kStages);
      }
      for (int token = item.token_begin; token < item.token_end; token += kTokens) {
        wait(memory.used(ring.stage), ring.parity ^ 1);
        rows.fill(stage(ring), token, min(kTokens, item.token_end - token));
        ring.advance(memory.kStages);
      }
    }
  }
};

}  // namespace headsplit::kernels::dense::wide
