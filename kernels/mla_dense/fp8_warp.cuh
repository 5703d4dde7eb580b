#pragma once

#include "kernels/device/quad.cuh"
#include "kernels/device/tiles.cuh"
#include "kernels/mla_dense/fp8_loader.cuh"
#include "kernels/split/softmax_constants.h"

/// One of the four warps of the FP8 kernel.
namespace headsplit::kernels::dense::fp8 {

using split::kLn2;

/// Named barrier of all warps.
constexpr int kAllBarrier = 1;

/// A warp multiplies the keys of its 128 latent dimensions (and 16 of RoPE), which have one scale a
/// token, with the queries of all rows; warps add up their scores, and each weighs a quarter of the
/// tokens; then each multiplies the weights with its 128 dimensions again.  e4m3 becomes f16 in
/// registers, exactly; scales are applied to scores, and to weights in f16.
template <class Row>
struct WarpOn {
  const SplitArguments& arguments;
  SharedMemoryFor<Row> memory;
  int warp;
  int lane;

  // Of the item:
  WorkItem item;
  int mask_begin;  ///< tiles that reach past this token are masked
  std::uint32_t query[8][4];
  std::uint32_t rope_query[4];
  float output[16][4];  ///< tile 2 x i: dimensions 16 x i + 0, 2, 4, ..; tile 2 x i + 1: 1, 3, ..
  float reference[2];   ///< score that weights are relative to, log2; -inf before the first
  float sum[2];         ///< of this thread's weights
  int attended[2];

  __device__ int row(int half) const { return lane / 4 + 8 * half; }
  __device__ bool is_row(int of_tile) const { return of_tile < item.row_count; }
  __device__ std::int64_t global_row(int of_tile) const {
    return std::int64_t{item.request} * arguments.packed_rows + item.row_begin + of_tile;
  }
  __device__ void barrier() const { ptx::barrier_sync(kAllBarrier, kThreads); }
  __device__ std::uint32_t scale_address(std::uint32_t stage, int token) const {
    return stage + token * Row::kBytes + Row::kScalesAt + 4 * warp;
  }
  /// What a score is multiplied with, to be a logarithm of base 2.
  __device__ float score_factor() const {
    return Row::kOneScale ? arguments.scale_log2 * arguments.cache_scale : arguments.scale_log2;
  }

  __device__ void begin(const WorkItem& next);
  __device__ void clear(std::uint32_t stage, int from) const;
  __device__ std::uint32_t scale_scores(std::uint32_t stage, int tile, float (&sum_of)[4]) const;
  __device__ void multiply_keys(std::uint32_t stage, float (&scores)[kTiles][4],
                                std::uint32_t (&scales)[kTiles]) const;
  __device__ void hand_out(const float (&scores)[kTiles][4]) const;
  __device__ void collect(float (&mine)[kTilesAWarp][4], const float (&scores)[kTiles][4]) const;
  __device__ void mask(float (&mine)[kTilesAWarp][4], int token) const;
  __device__ bool weigh(const float (&mine)[kTilesAWarp][4], float (&added)[2]) const;
  __device__ void move_references(const float (&mine)[kTilesAWarp][4]);
  __device__ void multiply_values(std::uint32_t stage, const std::uint32_t (&scales)[kTiles]);
  __device__ void share_row_value(int half, float value) const;
  __device__ void finish();
  __device__ void store(int half, float factor, std::int64_t target) const;
  __device__ void tile(std::uint32_t stage, int token, Loader<Row>& loader);
  __device__ void run(const CtaItems& items);
};

using Warp = WarpOn<Row656>;

}  // namespace headsplit::kernels::dense::fp8
