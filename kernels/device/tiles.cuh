#pragma once

#include <cstdint>

#include "kernels/device/ptx.cuh"
#include "kernels/device/tile_layout.h"

namespace headsplit::kernels {

/// This lane's ldmatrix addresses into tiles, for 16x16 blocks of values.
///   A operand of an mma (rows x k), or B transposed (k x columns): matrices in the order (rows
///   0-7, low), (rows 8-15, low), (rows 0-7, high), (rows 8-15, high) halves of the 16 columns.
///   B operand (columns of the product as rows x k): (0-7, low), (0-7, high), (8-15, low), ...
struct LaneAddress {
  std::uint32_t row_bytes = 0;  ///< offset of the lane's row
  std::uint32_t swizzle = 0;    ///< offset of its chunk in the row, for columns 0-15

  __device__ static LaneAddress rows_first(int lane) {
    const int row = lane % 16;
    return {std::uint32_t(row * kTileRowBytes),
            std::uint32_t(((lane / 16) ^ (row % kTileRowChunks)) * kChunkBytes)};
  }
  __device__ static LaneAddress columns_first(int lane) {
    const int row = lane % 8 + lane / 16 * 8;
    return {std::uint32_t(row * kTileRowBytes),
            std::uint32_t(((lane / 8 % 2) ^ (row % kTileRowChunks)) * kChunkBytes)};
  }

  /// Offset of this lane's chunk for the 16 columns from 16 x `column_block` on (0..3).
  __device__ std::uint32_t at(int column_block) const {
    return row_bytes + (swizzle ^ std::uint32_t(column_block * 2 * kChunkBytes));
  }
};

}  // namespace headsplit::kernels
