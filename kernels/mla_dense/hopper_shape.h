#pragma once

#include <cstdint>

#include "kernels/mla_dense/portable_shape.h"
#ifdef __CUDACC__
#include "kernels/device/ptx.cuh"
#endif

namespace headsplit::kernels::dense::hopper {

/// The Hopper split kernel's CTA: 64 packed rows, steps of 32 tokens, three warpgroups.
///   scores: queries x keys and the softmax; holds most of the queries in registers
///   values: two of them, weights x values, 256 latent dimensions each.  A group also loads its
///   half
///           of the cache tiles: where it has used values, it puts those of five tiles later.
constexpr dense::TileShape kTile{
    .d_latent = 512, .d_rope = 64, .groups = 1, .blocks = 4, .tokens = 32, .producer_warps = 4};

constexpr int kRows = 64;
constexpr int kTokens = kTile.tokens;
constexpr int kStages = 5;
constexpr int kSlices = kTile.latent_slices() + kTile.rope_slices();
constexpr int kStepsASlice = kTileRowValues / 16;  ///< products of a slice of 64 dimensions

/// Slices of the queries in the registers of the scores' warpgroup; the others are in shared
/// memory.
constexpr int kRegisterSlices = 6;
constexpr int kSharedSlices = kSlices - kRegisterSlices;

constexpr int kGroupThreads = 128;
constexpr int kThreads = 3 * kGroupThreads;
/// Registers of a thread; 168 each at launch.  A product of 256 columns needs 160.
constexpr int kScoresRegisters = 184;
constexpr int kValuesRegisters = 160;
static_assert(kScoresRegisters + 2 * kValuesRegisters <= 3 * 168);

constexpr int kValuesDims = kTile.d_latent / 2;
constexpr int kKeySliceBytes = kTokens * kTileRowBytes;
constexpr int kQuerySliceBytes = kRows * kTileRowBytes;
constexpr int kWeightRowBytes = kTokens * 2;
constexpr int kWeightsBytes = kRows * kWeightRowBytes;

/// Memory map of a CTA's shared memory, as 32-bit addresses.  Weights and row factors belong to a
/// stage: they are free when its next tile has landed.
///   stages x [cache tile] | [queries] | stages x [weights] | stages x [rescale] |
///   stages x [inverse] | stages x [rescale flags] | barriers
struct SharedMemory {
  std::uint32_t base;

  static constexpr int kQuery = kStages * kTile.stage_bytes();
  static constexpr int kWeights = kQuery + kSharedSlices * kQuerySliceBytes;
  static constexpr int kRescale = kWeights + kStages * kWeightsBytes;
  static constexpr int kInverse = kRescale + kStages * kRows * 4;
  static constexpr int kFlags = kInverse + kStages * kRows * 4;
  static constexpr int kBarriers = kFlags + kStages * 16;
  static constexpr int kBytes = kBarriers + kStages * 2 * 8;

#ifdef __CUDACC__
  __device__ std::uint32_t stage(int index) const {
    return base + std::uint32_t(index * kTile.stage_bytes());
  }
  __device__ std::uint32_t query(int shared_slice) const {
    return base + std::uint32_t(kQuery + shared_slice * kQuerySliceBytes);
  }
  __device__ std::uint32_t weights(int index) const {
    return base + std::uint32_t(kWeights + index * kWeightsBytes);
  }
  /// What a row's output is multiplied with before the weights are used, where the flag is set.
  __device__ std::uint32_t rescale(int index, int row) const {
    return base + std::uint32_t(kRescale + (index * kRows + row) * 4);
  }
  /// 1 / sum of a row's weights, with the last tile of an item.
  __device__ std::uint32_t inverse(int index, int row) const {
    return base + std::uint32_t(kInverse + (index * kRows + row) * 4);
  }
  /// Whether any of the 16 rows of a warp is rescaled.
  __device__ std::uint32_t rescale_flag(int index, int warp) const {
    return base + std::uint32_t(kFlags + index * 16 + warp * 4);
  }
  /// The tile in this stage has landed.
  __device__ std::uint32_t full(int index) const {
    return base + std::uint32_t(kBarriers + index * 8);
  }
  /// Its weights are there.
  __device__ std::uint32_t weighed(int index) const { return full(kStages + index); }

  __device__ void init_barriers() const {
    for (int i = 0; i < kStages; ++i) {
      ptx::mbarrier_init(full(i), 2 * kGroupThreads);
      ptx::mbarrier_init(weighed(i), kGroupThreads);
    }
  }
#endif
};
static_assert(SharedMemory::kQuery % 1024 == 0 && SharedMemory::kWeights % 1024 == 0);
static_assert(SharedMemory::kBytes <= 227 * 1024);

}  // namespace headsplit::kernels::dense::hopper
