#pragma once

#include <cstdint>

#include "kernels/mla_dense/fp8_shape.h"
#ifdef __CUDACC__
#include "kernels/device/ptx.cuh"
#endif

/// The FP8 kernel for many packed rows.  Tokens and latent dimensions are the 64 rows of a wgmma,
/// packed rows its columns; e4m3 becomes f16 in registers, which are the first operand:
///   scores^T [tokens, rows] = keys x queries^T,  output^T [dims, rows] = values^T x weights^T
namespace headsplit::kernels::dense::wide {

using fp8::kLatent;
using fp8::kQk;
using fp8::kScaleWidth;
using fp8::Row576;
using fp8::Row656;

constexpr int kTokens = 64;
constexpr int kScales = kLatent / kScaleWidth;  ///< of a token
constexpr int kSlices = kQk / kTileRowValues;
constexpr int kLatentSlices = kLatent / kTileRowValues;
/// Tokens of a stage of the ring that rows of the cache come into.
constexpr int kStageTokens = kTokens;
template <class Row>
constexpr int kStageBytes = Row::kStageBytes;
static_assert(kStageTokens == fp8::kTokens);
/// An item's queries come through the ring, too, so many rows in a stage: they are asked for while
/// the item before is computed, and would be late if they were not, behind all rows of the cache
/// that are on their way.
constexpr int kQueryRows = 32;
static_assert(kQueryRows * 2 * kQk <= kStageBytes<Row576>);

/// Warpgroups: one makes weights, two multiply them with values, 256 latent dimensions each, and
/// of the last a warp fetches the rows of the cache.
constexpr int kGroupThreads = 128;
constexpr int kGroupWarps = 4;
constexpr int kThreads = 4 * kGroupThreads;
constexpr int kValuesGroups = 2;
constexpr int kValuesDims = kLatent / kValuesGroups;
constexpr int kScoresRegisters = 136;
constexpr int kValuesRegisters = 176;
constexpr int kLoaderRegisters = 24;
static_assert(kScoresRegisters + 2 * kValuesRegisters + kLoaderRegisters <= 4 * 128);

/// e4m3 x scale of its tile is rounded to f16 lifted by this, so a scale may be between 2^-17 and
/// 2^4.  Values with one scale are exact in f16 without it, and sums are multiplied with it.
constexpr float kLift = 8;
/// Weights are lifted by so many powers of two, away from the smallest values of f16.
constexpr float kWeightLift = 8;
/// Log2 by which a score may exceed its row's reference: lifted weights stay below 2^14.
constexpr float kRescaleThreshold = 6;

/// Memory map of a CTA's shared memory, as 32-bit addresses.  Weights have rows of 128 bytes, a
/// token each.
///   [queries] | weight stages x [weights] | stages x [rows of the cache as they lie] |
///   weight stages x [scales] | .. x [rescale] | .. x [inverse] | .. x [whether to rescale] |
///   offsets | attended tokens | a value of each warp for each row | stages x [masks] | barriers
template <int kRows, class Row>
struct SharedMemory {
  std::uint32_t base;

  static constexpr int kStageBytes = wide::kStageBytes<Row>;
  static constexpr int kStages = kRows > 32 ? 3 : 4;
  static constexpr int kWeightStages = 2;
  static constexpr int kQueryStages = kRows / kQueryRows;
  static_assert(kQueryStages < kStages);
  static constexpr int kQuerySliceBytes = kRows * kTileRowBytes;
  static constexpr int kWeightsBytes = kTokens * kTileRowBytes;

  static constexpr int kWeights = kSlices * kQuerySliceBytes;
  static constexpr int kRowsOfCache = kWeights + kWeightStages * kWeightsBytes;
  static constexpr int kScaleValues = kRowsOfCache + kStages * kStageBytes;
  static constexpr int kRescale = kScaleValues + kWeightStages * kScales * kTokens * 2;
  static constexpr int kInverse = kRescale + kWeightStages * kRows * 4;
  static constexpr int kFlags = kInverse + kWeightStages * kRows * 4;
  static constexpr int kOffsets = kFlags + 16;
  static constexpr int kAttended = kOffsets + kRows * 4;
  static constexpr int kExchange = kAttended + kRows * 4;
  static constexpr int kMasks = kExchange + kGroupWarps * kRows * 4;
  static constexpr int kBarriers = kMasks + kStages * 8;
  static constexpr int kBytes = kBarriers + 2 * (kStages + kWeightStages) * 8;
  static_assert(kWeights % 1024 == 0 && kWeightStages * 4 <= 16);
  static_assert(kBytes <= 227 * 1024);

#ifdef __CUDACC__
  __device__ std::uint32_t at(int offset) const { return base + std::uint32_t(offset); }
  __device__ std::uint32_t query() const { return base; }
  __device__ std::uint32_t weights(int index) const { return at(kWeights + index * kWeightsBytes); }
  __device__ std::uint32_t stage(int index) const { return at(kRowsOfCache + index * kStageBytes); }
  /// f16 values of the scales of 128 dimensions of all tokens, lifted.
  __device__ std::uint32_t scales(int index, int of_dims) const {
    return at(kScaleValues + (index * kScales + of_dims) * kTokens * 2);
  }
  /// What a row's output is multiplied with before the weights are used, where the flag is set.
  __device__ std::uint32_t rescale(int index, int row) const {
    return at(kRescale + (index * kRows + row) * 4);
  }
  /// 1 / (lifted) sum of a row's weights, with the last tile of an item.
  __device__ std::uint32_t inverse(int index, int row) const {
    return at(kInverse + (index * kRows + row) * 4);
  }
  __device__ std::uint32_t rescale_flag(int index) const { return at(kFlags + index * 4); }
  /// Of the scores' group: what is added to a row's scores (log2) before they become weights.
  __device__ std::uint32_t offset(int row) const { return at(kOffsets + row * 4); }
  /// Tokens that a row attends to, at most the item's end.
  __device__ std::uint32_t attended(int row) const { return at(kAttended + row * 4); }
  __device__ std::uint32_t exchange(int warp, int row) const {
    return at(kExchange + (warp * kRows + row) * 4);
  }
  /// 64 bits: rows of the stage that count, where the loader masks any.
  __device__ std::uint32_t mask(int index) const { return at(kMasks + index * 8); }

  /// The rows have landed.
  __device__ std::uint32_t full(int index) const { return at(kBarriers + index * 8); }
  /// Their values have been read, by each thread of the values' groups; queries by each of the
  /// scores' group, which arrives for both.
  __device__ std::uint32_t used(int index) const { return full(kStages + index); }
  /// Weights and scales are there, from each thread of the scores' group.
  __device__ std::uint32_t weighed(int index) const { return full(2 * kStages + index); }
  /// They have been used, by each thread of the values' groups.
  __device__ std::uint32_t spent(int index) const { return weighed(kWeightStages + index); }

  /// full_arrivals: of whoever fills the stages.
  __device__ void init_barriers(int full_arrivals) const {
    for (int i = 0; i < kStages; ++i) {
      ptx::mbarrier_init(full(i), full_arrivals);
      ptx::mbarrier_init(used(i), kValuesGroups * kGroupThreads);
    }
    for (int i = 0; i < kWeightStages; ++i) {
      ptx::mbarrier_init(weighed(i), kGroupThreads);
      ptx::mbarrier_init(spent(i), kValuesGroups * kGroupThreads);
    }
    ptx::fence_barrier_init();
  }
#endif
};

}  // namespace headsplit::kernels::dense::wide
