#pragma once

#include <cstdint>

#include "kernels/split/work_item.h"

/// What the CUDA kernels of mla_dense are launched with: plain values and device pointers.
namespace headsplit::kernels::dense {

using split::MergeItem;
using split::WorkItem;

/// Plans of at most that many CTAs with one item each travel with the arguments: they cost no trip
/// to memory at the start of a kernel.
constexpr int kInlineItems = 264;

/// query [batch, packed rows, d_qk] bf16, cache [pages, page_tokens, d_qk] bf16 (or rows of FP8:
/// fp8_shape.h; d_qk e4m3 values, of fp8_tensor), page_table [batch, pages_per_request], ends
/// [batch, query_tokens] tokens that a query token attends to, never fewer than the one before it,
/// output [batch, packed rows, d_latent] bf16, lse [batch, packed rows] fp32, partial_output
/// [slots, tile_rows, d_latent] and partial_lse [slots, tile_rows] fp32.
struct SplitArguments {
  const std::uint16_t* query = nullptr;
  const std::uint16_t* cache = nullptr;
  const std::int32_t* page_table = nullptr;
  const std::int32_t* ends = nullptr;
  const WorkItem* items = nullptr;           ///< null: inline_items, one a CTA
  const std::int32_t* item_begin = nullptr;  ///< [ctas + 1]
  std::uint16_t* output = nullptr;
  float* lse = nullptr;
  float* partial_output = nullptr;
  float* partial_lse = nullptr;
  std::int32_t packed_rows = 0;  ///< of a request: query_tokens x local_heads
  std::int32_t local_heads = 0;
  std::int32_t query_tokens = 0;
  std::int32_t pages_per_request = 0;
  std::int32_t page_shift = 0;     ///< log2 of the page's tokens
  std::int32_t tile_rows = 0;      ///< rows of a partial
  std::int32_t stages = 0;         ///< tiles of the cache that fit shared memory
  float scale_log2 = 0;            ///< softmax scale x log2(e)
  std::uint64_t cache_policy = 0;  ///< of the lines of the cache in L2
  WorkItem inline_items[kInlineItems] = {};
  float* scratch = nullptr;  ///< [ctas, SplitKernel::scratch_bytes / 4]
  float cache_scale = 1;     ///< of fp8_tensor: of all values of the cache
  /// Of fp8_tensor: a CUtensorMap, in boxes of 128 bytes x tokens of a page, 64 at most.
  const void* cache_map = nullptr;
  std::int32_t slot_count = 0;  ///< of the cache; mla_sparse: other entries of a list are none
};

}  // namespace headsplit::kernels::dense
