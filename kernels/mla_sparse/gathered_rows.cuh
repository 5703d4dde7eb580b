#pragma once

#include "kernels/mla_dense/fp8_wide_rows.cuh"
#include "kernels/mla_sparse/gather.cuh"

namespace headsplit::kernels::dense::wide {

/// How rows of the FP8 cache come into a stage by an index list (fp8_wide_rows.cuh): four warps, 16
/// rows each, by cp.async.  Rows that do not count become zeros and are masked.
struct GatheredRows {
  using Row = Row656;
  using Arguments = SplitArguments;
  static constexpr bool kMasked = true;
  static constexpr int kWarps = kTokens / kGatheredRows;
  /// Of each thread when its copies are done, and of each warp when its mask is there.
  static constexpr int kArrivals = 33 * kWarps;

  const SplitArguments& arguments;
  int warp;
  int lane;
  const std::int32_t* entry = nullptr;  ///< of this lane's row in the next tile
  int left = 0;                         ///< entries from there on
  std::int32_t slot = kNoRow;           ///< of that row

  __device__ void find() { slot = listed_slot(arguments, entry, left > 0); }
  __device__ void begin(const WorkItem& item) {
    const int position = item.token_begin + kGatheredRows * warp + lane % kGatheredRows;
    entry =
        arguments.page_table + std::int64_t{item.request} * arguments.pages_per_request + position;
    left = item.token_end - position;
    find();
  }

  /// Starts the copies of the next tile's rows, and looks up those of the one after it.
  __device__ void fill(const Stage& stage, int, int) {
    const std::uint32_t counts = __ballot_sync(0xFFFFFFFF, slot >= 0);
    gather_rows(arguments, stage.rows + warp * kGatheredRows * Row::kBytes, slot, lane);
    ptx::cp_async_mbarrier_arrive(stage.full);
    if (lane == 0) {
      ptx::store_shared_16(stage.mask + 2 * warp, static_cast<std::uint16_t>(counts));
      ptx::mbarrier_arrive(stage.full);
    }
    entry += kTokens;
    left -= kTokens;
    find();
  }

  /// Starts the copy of queries that follow each other, and arrives as often as `fill` does.
  __device__ void fill_queries(const Stage& stage, const std::uint16_t* source, int bytes) const {
    if (warp == 0 && lane == 0) {
      ptx::fence_async_proxy();  // what cp.async wrote there comes before
      ptx::mbarrier_arrive_expect(stage.full, bytes);
      if (bytes > 0) ptx::copy_bytes(stage.rows, source, bytes, stage.full);
    } else if (lane == 0) {
      ptx::mbarrier_arrive(stage.full);
    }
    ptx::mbarrier_arrive(stage.full);
  }
};

}  // namespace headsplit::kernels::dense::wide
