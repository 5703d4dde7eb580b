#pragma once

#include <cstdint>

#include "kernels/device/tile_layout.h"

namespace headsplit::kernels::per_head {

/// Rows and tokens of the blocks that a warp multiplies.
constexpr int kBlock = 16;
/// Warps of a CTA of the portable kernel.
constexpr int kWarps = 4;
/// Tokens of one step of a CTA: each warp loads a block.
constexpr int kStepTokens = kWarps * kBlock;

/// An instantiation of the portable split kernel.  Its widths are the widest keys and values that
/// it takes; narrower keys are filled up with zeros in shared memory.
struct TileShape {
  int d_k = 128;
  int d_v = 128;
  /// Blocks of packed rows of a warp.  With one, queries are in registers, and warps can have rows
  /// of their own; with more, queries are in shared memory, and all warps have the same rows.
  int blocks = 1;
  int ctas_per_sm = 2;

  /// Packed rows from which on more than one block of a warp is worth it.
  static constexpr int kSharedRowsMin = kBlock + 1;
  static constexpr int kSliceBytes = kBlock * kTileRowBytes;  ///< 64 dimensions of a block

  constexpr bool shares_query() const { return blocks > 1; }
  /// Packed rows of a warp, and the most of a CTA.
  constexpr int warp_rows() const { return blocks * kBlock; }
  constexpr int rows() const { return shares_query() ? warp_rows() : kWarps * kBlock; }
  constexpr int key_slices() const { return d_k / kTileRowValues; }
  constexpr int value_slices() const { return d_v / kTileRowValues; }
  /// A block of tokens: [key_slices + value_slices][16] rows of 128 bytes.
  constexpr int block_bytes() const { return (key_slices() + value_slices()) * kSliceBytes; }
  constexpr int stage_bytes() const { return kWarps * block_bytes(); }
  /// [blocks][key_slices][16] rows of 128 bytes, where warps share them.
  constexpr int query_bytes() const {
    return shares_query() ? blocks * key_slices() * kSliceBytes : 0;
  }
  /// fp32 outputs that warps with the same rows add up: of at most half of the warps.
  constexpr int merge_bytes() const {
    return (shares_query() ? warp_rows() : rows() / 2) * d_v * 4;
  }
  /// Two values a row of each warp.
  constexpr int row_values_bytes() const { return kWarps * warp_rows() * 8; }
  constexpr int fixed_bytes() const { return query_bytes() + merge_bytes() + row_values_bytes(); }

  bool operator==(const TileShape&) const = default;
};

}  // namespace headsplit::kernels::per_head
