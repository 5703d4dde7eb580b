#pragma once

#include "kernels/mla_dense/cta_items.cuh"
#include "kernels/mla_sparse/gather.cuh"

/// Rows of the FP8 cache by an index list into the ring of stages of the kernel for few heads.
namespace headsplit::kernels::dense::fp8 {

/// Each warp fetches the 16 tokens of a tile that it also weighs.
struct GatherLoader {
  static_assert(kTokens / kWarps == kGatheredRows);

  const SplitArguments& arguments;
  SharedMemory memory;
  int warp;
  int lane;
  CtaItems items;
  int item;  ///< of the next tile
  int stage = 0;
  int token = 0;
  int token_end = 0;
  const std::int32_t* list = nullptr;
  std::int32_t slot = kNoRow;  ///< of the next tile's token kGatheredRows x warp + lane % 16

  /// To the next item with tokens, and looks up its first tile.
  __device__ void next_item() {
    while (token >= token_end && ++item < items.end) {
      const WorkItem found = items.get(item);
      token = found.token_begin;
      token_end = found.token_end;
      list = arguments.page_table + std::int64_t{found.request} * arguments.pages_per_request;
    }
    const int position = token + kGatheredRows * warp + lane % kGatheredRows;
    slot = listed_slot(arguments, list + position, item < items.end && position < token_end);
  }

  /// Starts the copy of the next tile, if there is one, into the next stage, which all warps must
  /// have done with.  Gives which of this warp's tokens count.
  __device__ std::uint32_t start() {
    if (item >= items.end) return 0;
    const std::uint32_t counts = __ballot_sync(0xFFFFFFFF, slot >= 0);
    gather_rows(arguments, memory.stage(stage) + warp * kGatheredRows * kRowBytes, slot, lane);
    ptx::cp_async_mbarrier_arrive(memory.full(stage));
    stage = stage + 1 == kStages ? 0 : stage + 1;
    token += kTokens;
    next_item();
    return counts;
  }
};

}  // namespace headsplit::kernels::dense::fp8
