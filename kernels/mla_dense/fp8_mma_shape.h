#pragma once

#include <cstdint>

#include "kernels/e4m3.h"
#include "kernels/mla_dense/fp8_shape.h"
#ifdef __CUDACC__
#include "kernels/device/ptx.cuh"
#endif

/// The kernel that multiplies in FP8: keys and values as they are stored, queries and weights
/// rounded to e4m3.  One scale for the whole cache, rows of 576 bytes.
///   scores [rows, tokens] = queries x keys^T,  output^T [dims, rows] = values^T x weights^T
namespace headsplit::kernels::dense::mma {

using fp8::kLatent;
using fp8::kQk;
using fp8::kRope;
constexpr int kRowBytes = kQk;

constexpr int kRows = 64;
constexpr int kTokens = 64;
/// A row of a tile, 128 bytes of 128 dimensions; RoPE's are half as long.
constexpr int kLatentSlices = kLatent / kTileRowBytes;
constexpr int kSliceBytes = kTokens * kTileRowBytes;
constexpr int kRopeRowBytes = kRope;
constexpr int kTileBytes = kTokens * kRowBytes;
static_assert(kRows == kTokens);  // queries lie as a tile of the cache does

/// Warpgroups: two make weights, of every other tile each, two multiply them with values, 256
/// latent dimensions each.  Those that make weights also load: where a tile has been used, the one
/// five tiles later.
constexpr int kGroupThreads = 128;
constexpr int kGroupWarps = 4;
constexpr int kScoresGroups = 2;
constexpr int kValuesGroups = 2;
constexpr int kThreads = (kScoresGroups + kValuesGroups) * kGroupThreads;
constexpr int kValuesDims = kLatent / kValuesGroups;
/// 128 a thread at launch.
constexpr int kScoresRegisters = 80;
constexpr int kValuesRegisters = 176;
static_assert(kScoresRegisters + kValuesRegisters <= 2 * 128);

/// Log2 of the weight of a score that is its row's reference (64 is exact, so a token that has most
/// of the weight is not rounded), and by how much a score may exceed it: weights stay below 448,
/// and are as far as can be from where e4m3 ends at the other side.
constexpr float kWeightLift = 6;
constexpr float kRescaleThreshold = 2.75f;

/// The tensor cores add e4m3 products to sums of which they keep 13 bits or so: what is added to a
/// much larger sum is cut off.  So sums of this many tiles are added up in fp32, in device memory.
constexpr int kTilesASum = 64;
constexpr int kScratchBytes = kRows * kLatent * 4;

/// Offset of 16 bytes of a row of RoPE, or of weights: rows of 64 bytes, swizzled.
constexpr int swizzled_64(int row, int chunk) {
  return row * 64 + ((chunk ^ (row / 2 % 4)) * kChunkBytes);
}

/// Memory map of a CTA's shared memory, as 32-bit addresses.
///   [queries] | weight stages x [weights] | stages x [tile of the cache] | weight stages x
///   [rescale] | .. x [inverse] | .. x [whether to rescale] | [offsets] | [first] | [last
///   offsets] | scores groups x [sums] | barriers
struct SharedMemory {
  std::uint32_t base;

  static constexpr int kStages = 5;
  static constexpr int kWeightStages = kScoresGroups;
  static constexpr int kWeightsBytes = kRows * kTokens;
  static constexpr int kWeights = kTileBytes;
  static constexpr int kTiles = kWeights + kWeightStages * kWeightsBytes;
  static constexpr int kRescale = kTiles + kStages * kTileBytes;
  static constexpr int kInverse = kRescale + kWeightStages * kRows * 4;
  static constexpr int kFlags = kInverse + kWeightStages * kRows * 4;
  static constexpr int kOffsets = kFlags + kWeightStages * 16;
  static constexpr int kFirstOffsets = kOffsets + kRows * 4;
  static constexpr int kLastOffsets = kFirstOffsets + kRows * 4;
  static constexpr int kSums = kLastOffsets + kRows * 4;
  static constexpr int kBarriers = kSums + kScoresGroups * kRows * 8;
  static constexpr int kBarrierCount =
      kStages + 2 * kWeightStages + 2 * kScoresGroups * kGroupWarps;
  static constexpr int kBytes = kBarriers + 8 * kBarrierCount;
  static_assert(kTiles % 1024 == 0 && kTileBytes % 1024 == 0 && kBarriers % 8 == 0);
  static_assert(kBytes <= 227 * 1024);

#ifdef __CUDACC__
  __device__ std::uint32_t at(int offset) const { return base + std::uint32_t(offset); }
  __device__ std::uint32_t query() const { return base; }
  __device__ std::uint32_t weights(int index) const { return at(kWeights + index * kWeightsBytes); }
  __device__ std::uint32_t stage(int index) const { return at(kTiles + index * kTileBytes); }
  /// What a row's output is multiplied with before the weights are used, where its warp's flag is
  /// set.
  __device__ std::uint32_t rescale(int index, int row) const {
    return at(kRescale + (index * kRows + row) * 4);
  }
  /// The cache's scale / sum of a row's weights, with the last tile of an item; with the last of
  /// kTilesASum before it, a row's offset.
  __device__ std::uint32_t inverse(int index, int row) const {
    return at(kInverse + (index * kRows + row) * 4);
  }
  __device__ std::uint32_t rescale_flag(int index, int warp) const {
    return at(kFlags + index * 16 + warp * 4);
  }
  /// What is added to a row's scores (log2) before they become weights.
  __device__ std::uint32_t offset(int row) const { return at(kOffsets + row * 4); }
  /// The offset of a row when outputs were added up first, and with the last tile of an item.
  __device__ std::uint32_t first_offset(int row) const { return at(kFirstOffsets + row * 4); }
  __device__ std::uint32_t last_offset(int row) const { return at(kLastOffsets + row * 4); }
  /// A row's sum of a group's weights and the offset they have, at the end of an item.
  __device__ std::uint32_t sum(int group, int row) const {
    return at(kSums + (group * kRows + row) * 8);
  }
  /// What products of a row's queries with keys are multiplied with, for a group: at the start of
  /// an item, where the warp that reads it will write the row's sum.
  __device__ std::uint32_t factor(int group, int row) const { return sum(group, row); }

  /// The tile has landed.
  __device__ std::uint32_t full(int index) const { return at(kBarriers + index * 8); }
  /// Weights are there.
  __device__ std::uint32_t weighed(int index) const { return full(kStages + index); }
  /// They have been used, and so has their tile.
  __device__ std::uint32_t spent(int index) const { return weighed(kWeightStages + index); }
  /// It is this warp's turn to move references: the other group's is done with the tile before.
  __device__ std::uint32_t turn(int group, int warp) const {
    return spent(kWeightStages) + (group * kGroupWarps + warp) * 8;
  }
  /// This warp's sums are there.
  __device__ std::uint32_t summed(int group, int warp) const {
    return turn(kScoresGroups + group, warp);
  }

  __device__ void init_barriers() const {
    for (int i = 0; i < kStages; ++i) {
      ptx::mbarrier_init(full(i), kGroupThreads);
    }
    for (int i = 0; i < kWeightStages; ++i) {
      ptx::mbarrier_init(weighed(i), kGroupThreads);
      ptx::mbarrier_init(spent(i), kValuesGroups * kGroupThreads);
    }
    for (int i = 0; i < 2 * kScoresGroups * kGroupWarps; ++i) {
      ptx::mbarrier_init(turn(0, i), 32);
    }
  }
#endif
};

}  // namespace headsplit::kernels::dense::mma
