#pragma once

#include <cstdint>

namespace headsplit::kernels::split {

/// A run of one sequence's tokens for one tile of its packed rows: what a CTA takes at a time.
/// A sequence is what a set of packed rows attends to.
///   mla_dense: sequence = request; packed row r is query token r / local_heads, head
///              r % local_heads
///   per_head:  sequence = request x kv_heads + KV head; with g query heads a KV head, packed row r
///              is query token r / g, head r % g of those that read the KV head
struct WorkItem {
  std::int32_t request = 0;      ///< of mla_dense; per_head: the sequence
  std::int32_t row_begin = 0;    ///< first packed row of the tile
  std::int32_t row_count = 0;    ///< packed rows, at most the tile's
  std::int32_t token_begin = 0;  ///< multiple of the tile's tokens, or token_end
  std::int32_t token_end = 0;    ///< at most the sequence's length
  std::int32_t slot = -1;        ///< partial that it writes; -1: it writes the output itself

  bool operator==(const WorkItem&) const = default;
};

/// The partials of one tile of packed rows that was split over the context.
struct MergeItem {
  std::int32_t request = 0;  ///< as WorkItem's
  std::int32_t row_begin = 0;
  std::int32_t row_count = 0;
  std::int32_t slot_begin = 0;
  std::int32_t slot_count = 0;

  bool operator==(const MergeItem&) const = default;
};

}  // namespace headsplit::kernels::split
