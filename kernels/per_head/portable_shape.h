#pragma once

#include <cstdint>

#include "kernels/device/tile_layout.h"

namespace headsplit::kernels::per_head {

/// Rows and tokens of the blocks that a warp multiplies.
constexpr int kBlock = 16;
/// Warps of a CTA of the portable kernel.
constexpr int kWarps = 4;
/// Packed rows that its warps can take between them, a block each.
constexpr int kRowsMax = kWarps * kBlock;
/// Tokens of one step of a CTA: each warp loads a block.
constexpr int kStepTokens = kWarps * kBlock;

/// Widths of an instantiation of the portable split kernel: the widest keys and values that it
/// takes.  Narrower keys are filled up with zeros in shared memory.
struct Widths {
  int d_k = 128;
  int d_v = 128;
  int ctas_per_sm = 2;

  static constexpr int kSliceBytes = kBlock * kTileRowBytes;  ///< 64 dimensions of a block

  constexpr int key_slices() const { return d_k / kTileRowValues; }
  constexpr int value_slices() const { return d_v / kTileRowValues; }
  /// A block of tokens: [key_slices + value_slices][16] rows of 128 bytes.
  constexpr int block_bytes() const { return (key_slices() + value_slices()) * kSliceBytes; }
  constexpr int stage_bytes() const { return kWarps * block_bytes(); }
  /// fp32 outputs that warps with the same rows add up: of at most half of the warps.
  constexpr int merge_bytes() const { return kRowsMax / 2 * d_v * 4; }
  /// Two values a row of each warp.
  static constexpr int kRowValuesBytes = kWarps * kBlock * 8;
  constexpr int fixed_bytes() const { return merge_bytes() + kRowValuesBytes; }

  bool operator==(const Widths&) const = default;
};

}  // namespace headsplit::kernels::per_head
