#pragma once

#include "kernels/device/ptx.cuh"
#include "kernels/per_head/portable_shape.h"
#include "kernels/per_head/split_arguments.h"
#include "kernels/split/cta_items.cuh"

namespace headsplit::kernels::per_head {

/// Where a warp stands in its CTA.  Where a warp has room for all packed rows of the tile, each has
/// tokens of its own; else teams of two or four warps have the same tokens and a block of rows
/// each.
struct Team {
  int warp;
  int lane;
  int row_warps;  ///< warps of a team: 1, 2 or 4

  /// warp_rows: that each has room for.
  __device__ static Team of_this_warp(int tile_rows, int warp_rows) {
    const int blocks = (tile_rows + warp_rows - 1) / warp_rows;
    return {int(threadIdx.x) / 32, int(threadIdx.x) % 32, blocks > 2 ? 4 : blocks};
  }
  __device__ int row_warp() const { return warp & (row_warps - 1); }
  __device__ int team() const { return warp / row_warps; }
  __device__ int teams() const { return kWarps / row_warps; }
  /// First of this warp's rows in the tile.
  __device__ int first_row() const { return row_warp() * kBlock; }
  /// First token of the team's first step in an item.
  __device__ int first_token(const WorkItem& item) const {
    return item.token_begin + (warp - row_warp()) * kBlock;
  }
  __device__ void barrier() const {
    if (row_warps == 1) {
      __syncwarp();
    } else {
      ptx::barrier_sync(1 + team(), 32 * row_warps);
    }
  }
};

using CtaItems = split::CtaItems<SplitArguments>;

/// Memory map of a CTA's shared memory, as 32-bit addresses.
///   stages x warps x [block of keys and values] | [queries] | [outputs to be added up] |
///   [row values]
template <TileShape kShape>
struct SharedMemory {
  std::uint32_t base;
  int stages;

  __device__ std::uint32_t block(int stage, int warp) const {
    return base + std::uint32_t((stage * kWarps + warp) * kShape.block_bytes());
  }
  /// Of a block of rows.
  __device__ std::uint32_t query(int row_block) const {
    return block(stages, 0) +
           std::uint32_t(row_block * kShape.key_slices() * TileShape::kSliceBytes);
  }
  /// Of the warps that have the same tokens, the row_warp-th's.
  __device__ std::uint32_t merge(int row_warp) const {
    return block(stages, 0) +
           std::uint32_t(kShape.query_bytes() + row_warp * kShape.warp_rows() * kShape.d_v * 4);
  }
  /// Two values of a warp's row.
  __device__ std::uint32_t row_values(int warp, int row) const {
    return merge(0) + std::uint32_t(kShape.merge_bytes() + (warp * kShape.warp_rows() + row) * 8);
  }
  /// Dimensions past the end of keys and queries stay 0: what is multiplied with them must not be
  /// NaN.
  __device__ void clear() const {
    const float zeros[4] = {0, 0, 0, 0};
    const int bytes = stages * kShape.stage_bytes() + kShape.query_bytes();
    for (int i = threadIdx.x * 16; i < bytes; i += 32 * kWarps * 16) {
      ptx::store_shared(base + std::uint32_t(i), zeros);
    }
    __syncthreads();
  }
};

}  // namespace headsplit::kernels::per_head
