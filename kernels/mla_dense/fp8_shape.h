#pragma once

#include <cstdint>

#include "kernels/device/tile_layout.h"
#ifdef __CUDACC__
#include "kernels/device/ptx.cuh"
#endif

namespace headsplit::kernels::dense::fp8 {

constexpr int kLatent = 512;
constexpr int kRope = 64;
constexpr int kQk = kLatent + kRope;
constexpr int kScaleWidth = 128;

/// Tokens of a step, and of a stage of shared memory.
constexpr int kTokens = 64;

/// A row of the cache: 512 values of e4m3, a scale (fp32) for each 128 of them, 64 of bf16 (RoPE).
/// In a stage rows lie as in the cache.
struct Row656 {
  static constexpr bool kOneScale = false;
  static constexpr int kScalesAt = kLatent;
  static constexpr int kRopeAt = kScalesAt + kLatent / kScaleWidth * 4;
  static constexpr int kBytes = kRopeAt + 2 * kRope;
  static constexpr int kStageBytes = kTokens * kBytes;

  /// From a token to the eighth after it, in a stage.
  static constexpr int kEightTokens = 8 * kBytes;
  /// Address of 16 bytes of a token in a stage: of its chunk `number`.
  static constexpr std::uint32_t chunk(std::uint32_t stage, int token, int number) {
    return stage + std::uint32_t(token * kBytes + number * kChunkBytes);
  }
};
static_assert(Row656::kBytes == 656 && Row656::kRopeAt % kChunkBytes == 0);

/// A row of 576 values of e4m3, whose scale is that of the cache (SplitArguments::cache_scale).  As
/// they lie rows would begin at two banks only, so a stage is five boxes of [tokens, 128 bytes],
/// which the copy engine swizzles; half of the last is zeros.
struct Row576 {
  static constexpr bool kOneScale = true;
  static constexpr int kRopeAt = kLatent;
  static constexpr int kBytes = kQk;
  static constexpr int kBoxes = (kBytes + kTileRowBytes - 1) / kTileRowBytes;
  static constexpr int kBoxBytes = kTokens * kTileRowBytes;
  static constexpr int kStageBytes = kBoxes * kBoxBytes;

  static constexpr int kEightTokens = 8 * kTileRowBytes;
  static constexpr std::uint32_t chunk(std::uint32_t stage, int token, int number) {
    return stage + std::uint32_t(number / kTileRowChunks * kBoxBytes) +
           std::uint32_t(swizzled(token, number % kTileRowChunks));
  }
};

constexpr int kScalesAt = Row656::kScalesAt;
constexpr int kRopeAt = Row656::kRopeAt;
constexpr int kRowBytes = Row656::kBytes;

/// The CTA: 16 packed rows, steps of 64 tokens, and a warp for each 128 latent dimensions, that is
/// for each scale of a row.  Two CTAs an SM: one computes while the other waits.
constexpr int kRows = 16;
constexpr int kWarps = kLatent / kScaleWidth;
constexpr int kThreads = 32 * kWarps;
constexpr int kCtasPerSm = 2;
constexpr int kStages = 2;
constexpr int kStageBytes = Row656::kStageBytes;

/// Tiles of eight tokens; each warp weighs two of them.
constexpr int kTiles = kTokens / 8;
constexpr int kTilesAWarp = kTiles / kWarps;
constexpr int kTileBytes = 32 * 16;  ///< scores of a tile: four fp32 of each lane

/// Weights, times scales of rows that have their own, are lifted by this, away from the smallest
/// values of f16; such a scale may be between 2^-20 and 2^4.
constexpr float kLift = 128;
/// Log2 by which a score may exceed its row's reference: weights x scales stay below f16's largest.
constexpr float kRescaleThreshold = 4;

/// Memory map of a CTA's shared memory, as 32-bit addresses.
///   stages x [rows of the cache as they lie] | scores that warps hand to each other |
///   weights, f16, rows of 128 bytes | a value of each warp for each row | barriers
template <class Row>
struct SharedMemoryFor {
  std::uint32_t base;

  static constexpr int kStageBytes = Row::kStageBytes;
  static constexpr int kExchange = kStages * kStageBytes;
  static constexpr int kWeights = kExchange + kWarps * (kWarps - 1) * kTilesAWarp * kTileBytes;
  static constexpr int kRowValues = kWeights + kRows * kTileRowBytes;
  static constexpr int kBarriers = kRowValues + kRows * kWarps * 4;
  static constexpr int kBytes = kBarriers + kStages * 8;
  static_assert(kStageBytes % 128 == 0 && kWeights % 1024 == 0);

#ifdef __CUDACC__
  __device__ std::uint32_t stage(int index) const {
    return base + std::uint32_t(index * kStageBytes);
  }
  /// Scores of a tile that warp `to` weighs, as warp `from` has them; tile: of `to`.
  __device__ std::uint32_t exchange(int to, int from, int tile, int lane) const {
    const int place = (to * (kWarps - 1) + from - (from > to ? 1 : 0)) * kTilesAWarp + tile;
    return base + std::uint32_t(kExchange + place * kTileBytes + lane * 16);
  }
  __device__ std::uint32_t weights() const { return base + kWeights; }
  /// kWarps values.
  __device__ std::uint32_t row_values(int row) const {
    return base + std::uint32_t(kRowValues + row * kWarps * 4);
  }
  /// The tile in this stage has landed.
  __device__ std::uint32_t full(int index) const {
    return base + std::uint32_t(kBarriers + 8 * index);
  }
#endif
};

using SharedMemory = SharedMemoryFor<Row656>;

/// Token of column `column` (0..7) of a tile.  A thread's two columns are four tokens apart:
/// 16-byte reads of four lanes at a time then meet no bank twice.
#ifdef __CUDACC__
__device__ __forceinline__ int token_of(int column) { return column / 2 + column % 2 * 4; }
#endif

}  // namespace headsplit::kernels::dense::fp8
