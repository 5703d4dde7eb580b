#pragma once

#include <cuda.h>

#include <cstdint>

/// What the Hopper kernel of per-head attention is launched with: plain values, device pointers and
/// tensor maps.
namespace headsplit::kernels::per_head::hopper {

/// A run of one request's tokens for one tile of the packed rows of one KV head: what a CTA takes
/// at a time.  Packed row r of a KV head is query token r / group_heads, head r % group_heads.
struct WorkItem {
  std::int32_t request = 0;
  std::int32_t kv_head = 0;
  std::int32_t row_begin = 0;    ///< first packed row of the tile; a multiple of group_heads
  std::int32_t row_count = 0;    ///< packed rows, at most the tile's
  std::int32_t token_begin = 0;  ///< a multiple of the tile's tokens
  std::int32_t token_end = 0;    ///< at most the request's length
  std::int32_t slot = -1;        ///< partial that it writes; -1: it writes the output itself
  std::int32_t unused = 0;

  bool operator==(const WorkItem&) const = default;
};

/// query [batch, query_tokens, heads, d_k] bf16 as boxes of [64 dims, group_heads, tokens of a
/// tile, 1]; keys [pages, kv_heads, page_tokens, d_k] and values [.., d_v] bf16 as boxes of [64
/// dims, page_tokens, 1, 1], all swizzled by 128 bytes; page_table [batch, pages_per_request]; ends
/// [batch, query_tokens], never fewer than the one before it; output [batch, query_tokens, heads,
/// d_v] bf16; lse [batch, query_tokens, heads] fp32; partial_output [slots, tile_rows, d_v] and
/// partial_lse [slots, tile_rows] fp32.
struct Arguments {
  CUtensorMap query;
  CUtensorMap keys;
  CUtensorMap values;
  const std::int32_t* page_table = nullptr;
  const std::int32_t* ends = nullptr;
  const WorkItem* items = nullptr;
  const std::int32_t* item_begin = nullptr;  ///< [ctas + 1]
  std::uint16_t* output = nullptr;
  float* lse = nullptr;
  float* partial_output = nullptr;
  float* partial_lse = nullptr;
  std::int32_t heads = 0;
  std::int32_t group_heads = 0;  ///< query heads of a KV head
  std::int32_t query_tokens = 0;
  std::int32_t pages_per_request = 0;
  std::int32_t page_shift = 0;  ///< log2 of the page's tokens
  std::int32_t tile_rows = 0;   ///< rows of a tile that are used: a multiple of group_heads
  float scale_log2 = 0;         ///< softmax scale x log2(e)
};

}  // namespace headsplit::kernels::per_head::hopper
