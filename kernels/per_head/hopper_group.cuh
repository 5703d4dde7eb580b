#pragma once

#include "kernels/device/quad.cuh"
#include "kernels/per_head/hopper_arguments.h"
#include "kernels/per_head/hopper_products.cuh"
#include "kernels/split/softmax_constants.h"

/// A warpgroup with 64 packed rows: scores, softmax and output.
namespace headsplit::kernels::per_head::hopper {

using split::kLn2;
using split::kRescaleThreshold;

/// Named barrier: values past the end are cleared.
constexpr int kClearedBarrier = 1;

template <Shape kShape>
struct Consumer {
  static constexpr int kScores = kShape.tokens / 2;

  const Arguments& arguments;
  SharedMemory<kShape> memory;
  int group;
  int warp;
  int lane;

  /// [8 x i + 2 x (lane % 4) + {0, 1}] of rows lane / 4 and 8 below it, in [4 x i + 2 x half + ..].
  float output[kShape.d_v / 2];
  float scores[kScores];
  std::uint32_t weights[kScores / 2];
  /// Of this thread's two rows: scores are weighed relative to the reference, in log2.
  float reference[2];
  float sum[2];
  int attended[2];
  float factor[2];
  RingPosition keys{};
  RingPosition values{};
  std::uint32_t query_parity = 0;
  WorkItem item{};
  int mask_begin = 0;  ///< first token that some row of the tile does not attend to
  int group_end = 0;   ///< tokens that the group's last row attends to
  bool both = false;   ///< both groups have rows

  __device__ int row(int half) const {
    return group * kGroupRows + warp * 16 + half * 8 + lane / 4;
  }
  __device__ int ends_of(int tile_row) const {
    const int token = (item.row_begin + min(tile_row, item.row_count - 1)) / arguments.group_heads;
    return min(__ldg(arguments.ends + item.request * arguments.query_tokens + token),
               item.token_end);
  }
  __device__ void begin(const WorkItem& next) {
    item = next;
    both = item.row_count > kGroupRows;
    mask_begin = ends_of(0);
    group_end = ends_of(group * kGroupRows + kGroupRows - 1);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      attended[half] = ends_of(row(half));
      reference[half] = -INFINITY;
      sum[half] = 0;
    }
  }
  __device__ std::uint32_t group_query() const {
    return memory.query(0) + group * kGroupRows * kTileRowBytes;
  }
  __device__ void release(std::uint32_t barrier) const {
    if (warp == 0 && lane == 0) ptx::mbarrier_arrive(barrier);
  }
  __device__ void start_scores() {
    wait(memory.keys_full(keys.stage), keys.parity);
    multiply_keys<kShape>(scores, group_query(), memory.keys(keys.stage));
  }
  __device__ void scores_done() {
    wgmma::written(scores);
    release(memory.keys_empty(keys.stage));
    keys.advance(kShape.stages);
  }
  __device__ void start_output(bool add) {
    wait(memory.values_full(values.stage), values.parity);
    multiply_values<kShape>(output, weights, memory.values(values.stage), add);
  }
  __device__ void output_done() {
    wgmma::written(output);
    release(memory.values_empty(values.stage));
    values.advance(kShape.stages);
  }

  __device__ void clear_values(int from);
  __device__ void mask(int token);
  __device__ bool weigh(int token);
  __device__ void pack();
  __device__ void attend();
  __device__ void pass(int token);
  __device__ void pass_all();
  __device__ void store();
  __device__ void store_nothing() const;
  __device__ std::int64_t output_row(int tile_row) const {
    const int packed = item.row_begin + tile_row;
    const int token = packed / arguments.group_heads;
    return (std::int64_t{item.request} * arguments.query_tokens + token) * arguments.heads +
           item.kv_head * arguments.group_heads + packed % arguments.group_heads;
  }
  __device__ void run();
};

}  // namespace headsplit::kernels::per_head::hopper
