#pragma once

#include "kernels/device/quad.cuh"
#include "kernels/per_head/hopper_arguments.h"
#include "kernels/per_head/hopper_products.cuh"

/// A warpgroup with 64 packed rows: scores, softmax and output.
namespace headsplit::kernels::per_head::hopper {

constexpr double kLn2Exact = 0.6931471805599453;
/// By how much (log2) a row's scores may exceed its reference before the output is rescaled.
constexpr float kRescaleThreshold = 8;
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

/// What is in slots past a request's end may be NaN, and weight 0 does not undo that.
template <Shape kShape>
__device__ __forceinline__ void Consumer<kShape>::clear_values(int from) {
  wait(memory.values_full(values.stage), values.parity);
  const int threads = (both ? kGroups : 1) * kGroupThreads;
  constexpr int kChunks = kShape.d_v / kTileRowValues * kTileRowChunks;
  const float zeros[4] = {0, 0, 0, 0};
  for (int i = group * kGroupThreads + warp * 32 + lane; i < (kShape.tokens - from) * kChunks;
       i += threads) {
    const int chunk = i % kChunks;
    ptx::store_shared(memory.values(values.stage) + chunk / kTileRowChunks * kShape.slice_bytes() +
                          (from + i / kChunks) * kTileRowBytes +
                          chunk % kTileRowChunks * kChunkBytes,
                      zeros);
  }
  ptx::fence_async_proxy();
  ptx::barrier_sync(kClearedBarrier, threads);
}

template <Shape kShape>
__device__ __forceinline__ void Consumer<kShape>::mask(int token) {
#pragma unroll
  for (int i = 0; i < kScores; ++i) {
    const int column = token + i / 4 * 8 + lane % 4 * 2 + i % 2;
    if (column >= attended[i / 2 % 2]) scores[i] = -INFINITY;
  }
}

/// Scores of the step from `token` on become weights in place.  Gives whether the output so far is
/// to be multiplied with `factor`.
template <Shape kShape>
__device__ __forceinline__ bool Consumer<kShape>::weigh(int token) {
  if (token + kShape.tokens > mask_begin) mask(token);
  float largest[2] = {-INFINITY, -INFINITY};
#pragma unroll
  for (int i = 0; i < kScores; ++i) largest[i / 2 % 2] = fmaxf(largest[i / 2 % 2], scores[i]);
  bool above = false;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    largest[half] *= arguments.scale_log2;
    above |= largest[half] > reference[half] + kRescaleThreshold;
  }
  const bool moves = __any_sync(0xFFFFFFFF, above);
  if (moves) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float of_row = quad_max(largest[half]);
      factor[half] = 1;
      if (of_row > reference[half] + kRescaleThreshold) {
        factor[half] = ptx::exp2_approx(reference[half] - of_row);
        reference[half] = of_row;
        sum[half] *= factor[half];
      }
    }
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    // A row that has attended to nothing yet has weights 2^-infinity.
    const float offset = reference[half] == -INFINITY ? 0 : reference[half];
#pragma unroll
    for (int i = 0; i < kScores / 4; ++i) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        float& score = scores[4 * i + 2 * half + e];
        score = ptx::exp2_approx(fmaf(score, arguments.scale_log2, -offset));
        sum[half] += score;
      }
    }
  }
  return moves;
}

template <Shape kShape>
__device__ __forceinline__ void Consumer<kShape>::pack() {
  wgmma::written(scores);  // not before the products that read the weights are done
#pragma unroll
  for (int i = 0; i < kScores / 2; ++i) {
    weights[i] = ptx::pack_bf16(scores[2 * i], scores[2 * i + 1]);
  }
}

/// The step from `token` on is for the other group only.
template <Shape kShape>
__device__ __forceinline__ void Consumer<kShape>::pass(int token) {
  wait(memory.keys_full(keys.stage), keys.parity);
  scores_done();
  if (both && item.token_end - token < kShape.tokens) clear_values(item.token_end - token);
  wait(memory.values_full(values.stage), values.parity);
  output_done();
}

/// All steps of the item, from the last to the first.  The scores of a step are under way beside
/// the output of the one before.
template <Shape kShape>
__device__ __forceinline__ void Consumer<kShape>::attend() {
  int steps = (item.token_end - item.token_begin + kShape.tokens - 1) / kShape.tokens;
  int token = item.token_begin + (steps - 1) * kShape.tokens;
  wait(memory.query_full(), query_parity);
  query_parity ^= 1;
  for (; steps > 1 && group_end <= token; --steps, token -= kShape.tokens) pass(token);
  start_scores();
  wgmma::wait<0>();
  scores_done();
  weigh(token);
  pack();
  if (item.token_end - token < kShape.tokens) clear_values(item.token_end - token);
  for (int step = 1; step < steps; ++step) {
    start_scores();
    start_output(step > 1);
    token -= kShape.tokens;
    wgmma::wait<1>();
    scores_done();
    const bool moves = weigh(token);
    wgmma::wait<0>();
    output_done();
    if (moves) {
#pragma unroll
      for (int i = 0; i < kShape.d_v / 2; ++i) output[i] *= factor[i / 2 % 2];
    }
    pack();
  }
  release(memory.query_empty());
  start_output(steps > 1);
  wgmma::wait<0>();
  output_done();
  store();
}

/// All rows are the other group's.
template <Shape kShape>
__device__ __forceinline__ void Consumer<kShape>::pass_all() {
  wait(memory.query_full(), query_parity);
  query_parity ^= 1;
  release(memory.query_empty());
  for (int token = item.token_begin; token < item.token_end; token += kShape.tokens) pass(token);
}

template <Shape kShape>
__device__ __forceinline__ void Consumer<kShape>::store() {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float total = quad_sum(sum[half]);
    const float inverse = total > 0 ? 1 / total : 0;
    const float lse = total > 0 ? (reference[half] + log2f(total)) * float(kLn2Exact) : -INFINITY;
    const bool real = row(half) < item.row_count;
    const std::int64_t target = item.slot < 0
                                    ? output_row(row(half))
                                    : std::int64_t{item.slot} * arguments.tile_rows + row(half);
    if (real && lane % 4 == 0)
      (item.slot < 0 ? arguments.lse : arguments.partial_lse)[target] = lse;
    std::uint16_t* const values_out = arguments.output + target * kShape.d_v;
    float* const partial = arguments.partial_output + target * kShape.d_v;
    if (item.slot >= 0) {
#pragma unroll
      for (int i = 0; i < kShape.d_v / 8; ++i) {
        const float* of_block = output + 4 * i + 2 * half;
        if (real) {
          *reinterpret_cast<float2*>(partial + i * 8 + lane % 4 * 2) =
              make_float2(of_block[0] * inverse, of_block[1] * inverse);
        }
      }
      continue;
    }
#pragma unroll
    for (int i = 0; i < kShape.d_v / 8; i += 4) {
      std::uint32_t packed[4];
#pragma unroll
      for (int block = 0; block < 4; ++block) {
        const float* of_block = output + 4 * (i + block) + 2 * half;
        packed[block] = ptx::pack_bf16(of_block[0] * inverse, of_block[1] * inverse);
      }
      quad_transpose(packed, lane);
      if (real) {
        *reinterpret_cast<uint4*>(values_out + (i + lane % 4) * 8) =
            make_uint4(packed[0], packed[1], packed[2], packed[3]);
      }
    }
  }
}

/// An item without tokens: nothing is attended to.  Its partial is read all the same, and weighs 0.
template <Shape kShape>
__device__ __forceinline__ void Consumer<kShape>::store_nothing() const {
  const uint4 zeros = make_uint4(0, 0, 0, 0);
  for (int of_tile = warp * 32 + lane; of_tile < item.row_count; of_tile += kGroupThreads) {
    const bool whole = item.slot < 0;
    const std::int64_t target =
        whole ? output_row(of_tile) : std::int64_t{item.slot} * arguments.tile_rows + of_tile;
    (whole ? arguments.lse : arguments.partial_lse)[target] = -INFINITY;
    uint4* const row =
        whole ? reinterpret_cast<uint4*>(arguments.output + target * kShape.d_v)
              : reinterpret_cast<uint4*>(arguments.partial_output + target * kShape.d_v);
    const int chunks = kShape.d_v / (whole ? 8 : 4);
    for (int i = 0; i < chunks; ++i) row[i] = zeros;
  }
}

template <Shape kShape>
__device__ __forceinline__ void Consumer<kShape>::run() {
  const int end = arguments.item_begin[blockIdx.x + 1];
  for (int i = arguments.item_begin[blockIdx.x]; i < end; ++i) {
    const WorkItem next = arguments.items[i];
    if (next.token_begin >= next.token_end) {
      item = next;
      if (group == 0) store_nothing();
      continue;
    }
    begin(next);
    if (group == 1 && !both) {
      pass_all();
    } else {
      attend();
    }
  }
}

}  // namespace headsplit::kernels::per_head::hopper
