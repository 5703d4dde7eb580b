#pragma once

#include <cstdint>

/// What the CUDA kernels of mla_dense are launched with: plain values and device pointers.
namespace headsplit::kernels::dense {

/// A run of one request's tokens for one tile of its packed rows: what a CTA takes at a time.
/// Packed row r of a request is query token r / local_heads, head r % local_heads.
struct WorkItem {
  std::int32_t request = 0;
  std::int32_t row_begin = 0;    ///< first packed row of the tile
  std::int32_t row_count = 0;    ///< packed rows, at most the tile's
  std::int32_t token_begin = 0;  ///< multiple of the tile's tokens
  std::int32_t token_end = 0;    ///< at most the request's length
  std::int32_t slot = -1;        ///< partial that it writes; -1: it writes the output itself

  bool operator==(const WorkItem&) const = default;
};

/// The partials of one tile of packed rows that was split over the context.
struct MergeItem {
  std::int32_t request = 0;
  std::int32_t row_begin = 0;
  std::int32_t row_count = 0;
  std::int32_t slot_begin = 0;
  std::int32_t slot_count = 0;

  bool operator==(const MergeItem&) const = default;
};

/// Plans of at most that many CTAs with one item each travel with the arguments, as do that many
/// merges: neither then costs a trip to memory at the start of a kernel.
constexpr int kInlineItems = 160;
constexpr int kInlineMerges = 160;

/// query [batch, packed rows, d_qk] bf16, cache [pages, page_tokens, d_qk] bf16,
/// page_table [batch, pages_per_request], ends [batch, query_tokens] tokens that a query token
/// attends to, never fewer than the one before it, output [batch, packed rows, d_latent] bf16, lse
/// [batch, packed rows] fp32, partial_output [slots, tile_rows, d_latent] and partial_lse [slots,
/// tile_rows] fp32.
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
};

struct CombineArguments {
  const MergeItem* merges = nullptr;  ///< [merge_count]; null: inline_merges
  const float* partial_output = nullptr;
  const float* partial_lse = nullptr;
  std::uint16_t* output = nullptr;
  float* lse = nullptr;
  std::int32_t merge_count = 0;
  std::int32_t packed_rows = 0;
  std::int32_t tile_rows = 0;
  std::int32_t d_latent = 0;
  MergeItem inline_merges[kInlineMerges] = {};
};

}  // namespace headsplit::kernels::dense
