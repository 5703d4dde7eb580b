#pragma once

/// Tiles in shared memory whose rows are 128 bytes: 64 values of 16 bits.  The eight 16-byte chunks
/// of a row are permuted by the row (chunk ^ row % 8), so that ldmatrix, which reads one chunk of
/// eight rows at a time, and copies, which write whole rows, meet no bank twice.
namespace headsplit::kernels {

constexpr int kTileRowBytes = 128;
constexpr int kChunkBytes = 16;
constexpr int kTileRowChunks = kTileRowBytes / kChunkBytes;
constexpr int kTileRowValues = kTileRowBytes / 2;  ///< of 16 bits

/// Byte offset of a 16-byte chunk of a row.
constexpr int swizzled(int row, int chunk) {
  return row * kTileRowBytes + ((chunk ^ (row % kTileRowChunks)) * kChunkBytes);
}

}  // namespace headsplit::kernels
