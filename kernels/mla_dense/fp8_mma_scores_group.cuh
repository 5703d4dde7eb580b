#pragma once

#include "kernels/device/ring.cuh"
#include "kernels/mla_dense/fp8_mma_loader.cuh"
#include "kernels/split/softmax_constants.h"

/// A warpgroup that multiplies queries with keys and makes weights of the scores.
namespace headsplit::kernels::dense::mma {

using split::kLn2;

/// Named barrier of both scores' groups.
constexpr int kScoresBarrier = 1;
/// Offset of a row that has attended to nothing yet: any score is far above.
constexpr float kNoReference = 1e30f;

/// A tile is loaded so many tiles before it is met: into the stage of the last but one.
constexpr int kAhead = SharedMemory::kStages - kScoresGroups;
static_assert(kAhead % 2 == 1);

/// The two groups take tiles in turn.  A thread has two rows, lane / 4 and 8 below it, of its
/// warp's 16; references are common to both groups, and the warps of the same rows decide about
/// them in the order of the tiles.
struct ScoresGroup {
  static constexpr int kScores = kTokens / 2;  ///< [4 x i + 2 x (which row) + {0, 1}]

  const SplitArguments& arguments;
  SharedMemory memory;
  CtaItems items;
  int group;
  int warp;
  int lane;
  TileLoader loader;

  // Of the item:
  WorkItem item;
  int attended[2];  ///< tokens that this thread's rows attend to, at most the item's end
  int mask_begin;   ///< tiles that reach past this token are masked
  float factor[2];  ///< products to scores (log2)
  float offset[2];  ///< added to a score makes the log2 of its weight
  float sum[2];     ///< of this thread's weights

  RingPosition ring{};              ///< of the next tile
  int filled = 0;                   ///< stage of the next tile that is loaded
  std::uint32_t parity = 0;         ///< of this group's next weights
  std::uint32_t summed_parity = 0;  ///< of the other group's next sums
  int next_group = 0;               ///< takes the next tile

  __device__ __forceinline__ int row(int half) const { return 16 * warp + lane / 4 + 8 * half; }
  __device__ __forceinline__ std::int64_t query_row(int of_tile) const {
    return std::int64_t{item.request} * arguments.packed_rows + item.row_begin + of_tile;
  }

  __device__ void expect_queries(int index) const;
  __device__ void begin(const WorkItem& next);
  __device__ void multiply(float (&scores)[kScores]) const;
  __device__ void mask(float (&scores)[kScores], int token) const;
  __device__ void choose_offsets(const float (&scores)[kScores], bool first);
  __device__ void weigh(const float (&scores)[kScores]);
  __device__ void give_sums();
  __device__ void store_sums(const float (&others)[2], float (&other_offsets)[2]) const;
  __device__ void store_offsets(int index, bool last) const;
  __device__ void no_tokens() const;
  __device__ void load_ahead();
  __device__ void fill_ring();
  __device__ void tile(int index, int tiles);
  __device__ void run();
};

}  // namespace headsplit::kernels::dense::mma
