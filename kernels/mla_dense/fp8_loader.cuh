#pragma once

#include "kernels/mla_dense/cta_items.cuh"
#include "kernels/mla_dense/fp8_shape.h"

/// The cache into the ring of stages.
namespace headsplit::kernels::dense::fp8 {

/// What comes into a stage with a run of `count` tokens.
template <class Row>
__device__ __forceinline__ constexpr int run_bytes(int count) {
  return count * (Row::kStageBytes / kTokens);
}

/// Starts the copy of `count` rows of the cache, from `row` on, to the token of a stage.  Of
/// Row576 they are as many as a box has: a page, or a stage if that is less.
template <class Row>
__device__ __forceinline__ void copy_run(const SplitArguments& arguments, std::uint32_t stage,
                                         int token, std::int64_t row, int count,
                                         std::uint32_t barrier) {
  if constexpr (Row::kOneScale) {
#pragma unroll
    for (int box = 0; box < Row::kBoxes; ++box) {
      ptx::copy_box(stage + box * Row::kBoxBytes + token * kTileRowBytes, arguments.cache_map,
                    {box * kTileRowValues, static_cast<int>(row), 0, 0}, barrier);
    }
  } else {
    ptx::copy_bytes(stage + token * Row::kBytes,
                    reinterpret_cast<const unsigned char*>(arguments.cache) + row * Row::kBytes,
                    count * Row::kBytes, barrier);
  }
}

/// The first warp asks the copy engine for tiles, one after the other over all items of the CTA, a
/// run of tokens of one page at a time.
template <class Row>
struct Loader {
  const SplitArguments& arguments;
  SharedMemoryFor<Row> memory;
  int lane;
  CtaItems items;
  int item;  ///< of the next tile
  int stage = 0;
  int token = 0;
  int token_end = 0;
  const std::int32_t* pages = nullptr;  ///< of the item's request

  /// To the next item with tokens.
  __device__ void next_item() {
    while (token >= token_end && ++item < items.end) {
      const WorkItem found = items.get(item);
      token = found.token_begin;
      token_end = found.token_end;
      pages = arguments.page_table + std::int64_t{found.request} * arguments.pages_per_request;
    }
  }

  /// Starts the copy of the next tile, if there is one, into the next stage, which all warps must
  /// have done with.
  __device__ void start() {
    if (item >= items.end) return;
    const int page_tokens = 1 << arguments.page_shift;
    const int run = min(page_tokens, kTokens);
    const int first = token + lane * run;
    const bool mine = lane * run < kTokens && first < token_end;
    const int page = mine ? __ldg(pages + (first >> arguments.page_shift)) : 0;
    const int runs = __popc(__ballot_sync(0xFFFFFFFF, mine));
    if (lane == 0) ptx::mbarrier_arrive_expect(memory.full(stage), runs * run_bytes<Row>(run));
    __syncwarp();
    if (mine) {
      const auto row = (std::int64_t{page} << arguments.page_shift) + (first & (page_tokens - 1));
      copy_run<Row>(arguments, memory.stage(stage), lane * run, row, run, memory.full(stage));
    }
    stage = stage + 1 == kStages ? 0 : stage + 1;
    token += kTokens;
    next_item();
  }
};

}  // namespace headsplit::kernels::dense::fp8
