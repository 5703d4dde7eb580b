#pragma once

#include "kernels/device/quad.cuh"
#include "kernels/device/wgmma.cuh"
#include "kernels/mla_dense/hopper_load.cuh"
#include "kernels/mla_dense/hopper_shape.h"
#include "kernels/mla_dense/portable_memory.cuh"
#include "kernels/mla_dense/split_arguments.h"
#include "kernels/split/softmax_constants.h"

/// The warpgroup that multiplies queries with keys and makes weights of the scores.
namespace headsplit::kernels::dense::hopper {

using split::kLn2;
using split::kRescaleThreshold;

constexpr int kSteps = kSlices * kStepsASlice;
/// Weights are handed over after that many products of the scores that follow: earlier, and the
/// products of values would come in between; later, and their stage is filled again later.
constexpr int kHandOverStep = 24;
constexpr int kScores = kTokens / 2;  ///< of a thread: two rows, lane / 4 and 8 below it

template <bool kGather>
struct ScoresGroup {
  const SplitArguments& arguments;
  SharedMemory memory;
  CtaItems items;
  int warp;
  int lane;

  // Of the item:
  WorkItem item;
  int attended[2];     ///< tokens that this thread's rows attend to, at most the item's end
  int mask_begin;      ///< tiles that reach past this token are masked
  float reference[2];  ///< scaled score that exponentials are relative to; -inf before the first
  float sum[2];        ///< of this thread's weights
  std::int32_t entry;  ///< of the index list, for token `lane` of the tile that is weighed next
  std::uint32_t query[kRegisterSlices * kStepsASlice][4];

  RingPosition ring{};     ///< of the tile whose weights come next
  RingPosition ahead{};    ///< of the tile whose scores come next
  RingPosition landing{};  ///< of the tile that is waited for next
  int weighed_stage = -1;  ///< whose weights are there and not handed over

  __device__ int row(int half) const { return warp * 16 + half * 8 + lane / 4; }
  __device__ std::int64_t query_row(int of_tile) const {
    return std::int64_t{item.request} * arguments.packed_rows + item.row_begin + of_tile;
  }

  __device__ void load_shared_query() const;
  __device__ void load_register_query();
  __device__ void begin(const WorkItem& next);
  __device__ void expect_tile();
  __device__ void multiply(float (&scores)[kScores]);
  __device__ void mask(float (&scores)[kScores], int token) const;
  __device__ void find_entries(int token);
  __device__ void mask_list(float (&scores)[kScores], int token);
  __device__ bool above(const float (&scores)[kScores]) const;
  __device__ void move_references(const float (&scores)[kScores], bool first);
  __device__ void weigh(float (&scores)[kScores], int tile, bool last);
  __device__ void store_sums();
  __device__ void no_tokens() const;
  __device__ void hand_over();
  __device__ void publish(bool expect);
  __device__ void last_tile(float (&scores)[kScores], int tile);
  __device__ void run();
};

}  // namespace headsplit::kernels::dense::hopper
