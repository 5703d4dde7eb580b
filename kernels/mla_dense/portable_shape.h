#pragma once

#include <cstdint>

#include "kernels/device/tile_layout.h"

namespace headsplit::kernels::dense {

/// Tiles of one instantiation of the portable split kernel.  A CTA has `groups` consumer groups of
/// four warps, each with `blocks` blocks of 16 packed rows, and `producer_warps` warps that load
/// the cache; with none, the first group loads the next tile while it works on one.
struct TileShape {
  int d_latent = 512;
  int d_rope = 64;
  int groups = 1;
  int blocks = 1;
  int tokens = 64;
  int producer_warps = 4;
  int ctas_per_sm = 1;
  /// Rows of the cache come by an index list: `page_table` has a slot for each token.
  bool gather = false;

  static constexpr int kGroupWarps = 4;
  static constexpr int kBlockRows = 16;

  constexpr int d_qk() const { return d_latent + d_rope; }
  constexpr int group_rows() const { return blocks * kBlockRows; }
  constexpr int rows() const { return groups * group_rows(); }
  constexpr int consumer_warps() const { return groups * kGroupWarps; }
  constexpr bool has_producers() const { return producer_warps > 0; }
  constexpr int loader_warps() const { return has_producers() ? producer_warps : kGroupWarps; }
  constexpr int threads() const { return 32 * (consumer_warps() + producer_warps); }
  /// Stages that the kernel can use: consumers that load for themselves are one tile ahead.
  constexpr int stages_max() const { return has_producers() ? kStagesMax : 2; }

  constexpr int latent_slices() const { return d_latent / kTileRowValues; }
  constexpr int rope_slices() const { return (d_rope + kTileRowValues - 1) / kTileRowValues; }
  /// One tile of the cache: [latent_slices + rope_slices][tokens] rows of 128 bytes.
  constexpr int stage_bytes() const {
    return (latent_slices() + rope_slices()) * tokens * kTileRowBytes;
  }
  /// The latent part of a group's queries: [latent_slices][group_rows].  (RoPE is in registers.)
  constexpr int query_bytes() const { return latent_slices() * group_rows() * kTileRowBytes; }
  /// fp32 scores that the warps of a group hand to each other: half of theirs.  P lies over them.
  constexpr int exchange_bytes() const { return group_rows() * tokens * 4; }
  /// Per row one value of each of the group's warps.
  constexpr int row_values_bytes() const { return group_rows() * kGroupWarps * 4; }
  constexpr int fixed_bytes() const {
    return groups * (query_bytes() + exchange_bytes() + row_values_bytes()) + kBarrierBytes;
  }
  constexpr int shared_bytes(int stages) const { return fixed_bytes() + stages * stage_bytes(); }

  static constexpr int kStagesMax = 8;
  static constexpr int kBarrierBytes = 256;
  static_assert(kBarrierBytes >= 8 * (2 * kStagesMax + 4));

  bool operator==(const TileShape&) const = default;
};

}  // namespace headsplit::kernels::dense
