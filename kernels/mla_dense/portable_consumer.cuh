#pragma once

#include "kernels/device/quad.cuh"
#include "kernels/device/tiles.cuh"
#include "kernels/mla_dense/portable_copy.cuh"
#include "kernels/split/softmax_constants.h"

namespace headsplit::kernels::dense {

using split::kLn2;
using split::kRescaleThreshold;

/// Where a CTA is in its work.
struct TilePlace {
  const CtaItems& items;
  int item;   ///< of the plan
  int token;  ///< first of the tile
};

/// One warp of a group of four that computes attention for up to `blocks` x 16 packed rows.
///   scores: warp = 2 x (half of the dimensions) + (half of the tokens); the two halves of the
///   dimensions are exchanged and added, and each warp keeps a quarter of the tokens.
///   output: each warp holds all rows for a quarter of the latent dimensions.
template <TileShape kShape>
struct Consumer {
  static constexpr int kBlocks = kShape.blocks;
  static constexpr int kGroupThreads = 32 * TileShape::kGroupWarps;
  static constexpr int kScoreTiles = kShape.tokens / 16;  ///< 8-token tiles before the exchange
  static constexpr int kKeptTiles = kScoreTiles / 2;
  static constexpr int kWarpDims = kShape.d_latent / TileShape::kGroupWarps;
  static constexpr int kOutputTiles = kWarpDims / 8;
  static constexpr int kRopeSteps = kShape.d_rope / 32;  ///< 16 dimensions each, of one half
  static constexpr int kSliceBytes = kShape.tokens * kTileRowBytes;
  static constexpr int kQuerySliceBytes = kShape.group_rows() * kTileRowBytes;
  static constexpr int kBlockBytes = TileShape::kBlockRows * kTileRowBytes;
  static_assert(kShape.latent_slices() % 2 == 0 && kShape.d_rope % 32 == 0 && kBlocks <= 2);

  const SplitArguments& arguments;
  SharedMemory<kShape> memory;
  int group;
  int warp;  ///< of the group
  int lane;

  // Of the item:
  WorkItem item;
  int mask_begin;     ///< tiles that reach past this token are masked
  int active_blocks;  ///< blocks of 16 rows that have rows
  std::uint32_t rope_query[kBlocks][kRopeSteps > 0 ? kRopeSteps : 1][4];
  float output[kBlocks][kOutputTiles][4];
  float reference[kBlocks][2];  ///< score that exponentials are relative to; -inf before the first
  float sum[kBlocks][2];        ///< of this thread's weights

  /// This warp's share of the next tile, where the first group loads.
  TileCopy<kShape> next{.warp = warp, .lane = lane};
  RingPosition ring{};
  /// Of a group's barriers when the tile before this one was done: the first finds them so.
  std::uint32_t tile_parity = 1;

  __device__ int dimension_half() const { return warp / 2; }
  __device__ int token_half() const { return warp % 2; }
  __device__ int group_row() const { return group * kShape.group_rows(); }
  /// This thread's rows of a block: `half` 0 and 1 of the mma's accumulators.
  __device__ int thread_row(int block, int half) const {
    return block * TileShape::kBlockRows + half * 8 + lane / 4;
  }
  /// A row of the group, as a row of the query, output and LSE arrays.
  __device__ std::int64_t global_row(int row) const {
    return std::int64_t{item.request} * arguments.packed_rows + item.row_begin + group_row() + row;
  }
  __device__ bool is_row(int row) const { return group_row() + row < item.row_count; }
  /// The warp with the same tokens and the other half of the dimensions.
  __device__ int partner() const { return warp ^ 2; }
  __device__ std::uint32_t exchange_area(int of_warp) const {
    return memory.exchange(group) + of_warp * (kShape.exchange_bytes() / TileShape::kGroupWarps);
  }
  __device__ bool loads() const { return !kShape.has_producers() && group == 0; }
  __device__ void group_barrier() const { ptx::barrier_sync(1 + group, kGroupThreads); }
  __device__ bool group_barrier_or(bool value) const {
    return ptx::barrier_or(1 + group, kGroupThreads, value);
  }
  __device__ void pair_barrier() const {
    ptx::barrier_sync(1 + kShape.groups + 2 * group + token_half(), 64);
  }

  /// Of this lane's row of keys in a stage, for the pair-th pair of 8-token tiles in this warp's
  /// order: the tokens it keeps, then its partner's.
  __device__ std::uint32_t key_offset(int pair) const {
    const LaneAddress address = LaneAddress::columns_first(lane);
    if constexpr (kKeptTiles == 1) {  // the pair is one kept tile and one of the partner's
      const std::uint32_t other = dimension_half() * 8 * kTileRowBytes;
      return token_half() * kBlockBytes + (address.at(0) ^ other);
    } else {
      const int place = pair ^ (dimension_half() * (kKeptTiles / 2));
      return (token_half() * (kScoreTiles / 2) + place) * kBlockBytes + address.at(0);
    }
  }

  /// Values of a row that each warp of the group adds one to.  value: of this thread's quad.
  __device__ void share_row_value(int block, int half, float value) const {
    if (lane % 4 != 0) return;
    ptx::store_shared(row_values_address(block, half) + warp * 4, __float_as_uint(value));
  }
  __device__ void load_row_values(float (&of_warp)[4], int block, int half) const {
    ptx::load_shared(of_warp, row_values_address(block, half));
  }
  __device__ std::uint32_t row_values_address(int block, int half) const {
    return memory.row_values(group) + thread_row(block, half) * (4 * TileShape::kGroupWarps);
  }

  /// The groups compute their scores one after the other, group 0 first: shared memory would limit
  /// them if they did so together, and so one's scores overlap with the other's output.
  __device__ void take_turn() const {
    if constexpr (kShape.groups > 1) {
      wait(memory.scores_done(1 - group), group == 0 ? tile_parity : tile_parity ^ 1);
    }
  }
  __device__ void end_turn() const {
    if constexpr (kShape.groups > 1) ptx::mbarrier_arrive(memory.scores_done(group));
  }

  __device__ void begin(const WorkItem& next);
  __device__ void load_query() const;
  __device__ void load_rope_query();
  template <int kActive>
  __device__ void multiply_query(float (&scores)[kBlocks][kScoreTiles][4]) const;
  __device__ void exchange(const float (&scores)[kBlocks][kScoreTiles][4],
                           float (&kept)[kBlocks][kKeptTiles][4]) const;
  __device__ void mask_list(float (&kept)[kBlocks][kKeptTiles][4], int token_begin) const;
  __device__ void mask(float (&kept)[kBlocks][kKeptTiles][4], int token_begin) const;
  __device__ void share_largest(const float (&kept)[kBlocks][kKeptTiles][4]) const;
  __device__ bool weigh(const float (&kept)[kBlocks][kKeptTiles][4],
                        float (&added)[kBlocks][2]) const;
  __device__ void move_references(const float (&kept)[kBlocks][kKeptTiles][4]);
  template <int kActive>
  __device__ void multiply_values();
  template <int kActive>
  __device__ void tile(const TilePlace& place);
  __device__ void finish();
  __device__ void store_output(std::uint16_t* values, int block, int half, float factor) const;
  __device__ void store_partial(float* values, int block, int half, float factor) const;

  __device__ void prime(const CtaItems& items);
  __device__ void find_next(const TilePlace& place);
  __device__ void copy_next() const;
  __device__ void sit_out();
  __device__ void run(const CtaItems& items);
};

}  // namespace headsplit::kernels::dense
