#pragma once

#include <cstdint>

#include "kernels/split/work_item.h"

/// What the portable CUDA kernel of per_head is launched with: plain values and device pointers.
namespace headsplit::kernels::per_head {

using split::WorkItem;

/// H = local_heads, G = kv_heads, g = H / G = group_heads, T = query_tokens.
/// query [batch, T, H, d_k] bf16, key [pages, G, page_tokens, d_k] bf16, value [pages, G,
/// page_tokens, d_v] bf16, page_table [batch, pages_per_request], ends [batch, T] tokens that a
/// query token attends to, output [batch, T, H, d_v] bf16, lse [batch, T, H] fp32, partial_output
/// [slots, tile_rows, d_v] and partial_lse [slots, tile_rows] fp32.
/// CTA c takes items[item_begin[c]] .. items[item_begin[c + 1] - 1], in order; or inline_items[c].
/// Packed row r of a sequence (request x G + KV head): query token r / g, head
/// (KV head) x g + r % g.
struct SplitArguments {
  /// Plans of at most that many CTAs with one item each travel with the arguments: they cost no
  /// trip to memory at the start of a kernel.
  static constexpr int kInlineItems = 272;

  const std::uint16_t* query = nullptr;
  const std::uint16_t* key = nullptr;
  const std::uint16_t* value = nullptr;
  const std::int32_t* page_table = nullptr;
  const std::int32_t* ends = nullptr;
  const WorkItem* items = nullptr;           ///< null: inline_items
  const std::int32_t* item_begin = nullptr;  ///< [ctas + 1]
  std::uint16_t* output = nullptr;
  float* lse = nullptr;
  float* partial_output = nullptr;
  float* partial_lse = nullptr;
  std::int32_t query_tokens = 0;
  std::int32_t kv_heads = 0;
  std::int32_t group_heads = 0;
  std::int32_t d_k = 0;
  std::int32_t d_v = 0;
  std::int32_t pages_per_request = 0;
  std::int32_t page_shift = 0;  ///< log2 of the page's tokens
  std::int32_t tile_rows = 0;   ///< rows of a partial
  std::int32_t stages = 0;      ///< that fit shared memory
  float scale_log2 = 0;         ///< softmax scale x log2(e)
  bool read_once = false;       ///< no other CTA wants the same keys and values
  WorkItem inline_items[kInlineItems] = {};
};

}  // namespace headsplit::kernels::per_head
