#pragma once

#include "kernels/device/ring.cuh"
#include "kernels/mla_dense/fp8_item.cuh"
#include "kernels/mla_dense/fp8_products.cuh"
#include "kernels/mla_dense/fp8_softmax.cuh"
#include "kernels/mla_sparse/gathered_rows.cuh"

/// A CTA for up to 16 heads of one query token: four warps of mla_dense's FP8 kernel (fp8_warp.cuh)
/// compute, four others gather.
namespace headsplit::kernels::dense::gather {

using fp8::kRows;
using fp8::kStageBytes;
using fp8::kStages;
using fp8::kTiles;
using fp8::kTilesAWarp;
using fp8::kTokens;
using wide::GatheredRows;

constexpr int kThreads = fp8::kThreads + 32 * GatheredRows::kWarps;
/// Of 256 threads, two CTAs an SM: 128 each at launch.
constexpr int kComputeRegisters = 216;
constexpr int kLoaderRegisters = 40;
static_assert(kComputeRegisters + kLoaderRegisters <= 2 * 128);

/// What fp8::SharedMemory has, masks of the rows that count, and the barriers of the ring.
struct SharedMemory {
  fp8::SharedMemory common;

  static constexpr int kMasks = fp8::SharedMemory::kBytes;
  static constexpr int kUsed = kMasks + kStages * 8;
  static constexpr int kBytes = kUsed + kStages * 8;

  __device__ std::uint32_t stage(int index) const { return common.stage(index); }
  /// The rows have landed.
  __device__ std::uint32_t full(int index) const { return common.full(index); }
  /// They have been used, by each computing thread.
  __device__ std::uint32_t used(int index) const { return common.base + kUsed + 8 * index; }
  __device__ std::uint32_t mask(int index) const { return common.base + kMasks + 8 * index; }

  __device__ void init_barriers() const {
    for (int i = 0; i < kStages; ++i) {
      ptx::mbarrier_init(full(i), GatheredRows::kArrivals);
      ptx::mbarrier_init(used(i), fp8::kThreads);
    }
  }
};

/// A gathering warp: its rows of the tiles of all items of the CTA, one after the other.
struct Loader {
  SharedMemory memory;
  CtaItems items;
  GatheredRows rows;

  __device__ void run() {
    RingPosition ring{};
    for (int i = items.begin; i < items.end; ++i) {
      const WorkItem item = items.get(i);
      rows.begin(item);
      for (int token = item.token_begin; token < item.token_end; token += kTokens) {
        wait(memory.used(ring.stage), ring.parity ^ 1);
        rows.fill({memory.stage(ring.stage), memory.mask(ring.stage), memory.full(ring.stage)},
                  token, item.token_end - token);
        ring.advance(kStages);
      }
    }
    ptx::cp_async_wait_all();
  }
};

/// A computing warp.
struct Computer {
  SharedMemory memory;
  fp8::Warp warp;
  RingPosition ring{};

  /// Which of the rows that this warp weighs count: from the lowest bit on this thread's columns.
  __device__ std::uint32_t counting() const {
    const std::uint32_t counts = ptx::load_shared(memory.mask(ring.stage) + warp.warp / 2 * 4);
    return counts >> (warp.warp % 2 * 16 + warp.lane % 4);
  }
  /// Scores of rows that do not become -infinity.
  __device__ static void mask(float (&mine)[kTilesAWarp][4], std::uint32_t counting) {
#pragma unroll
    for (int tile = 0; tile < kTilesAWarp; ++tile) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        if ((counting >> (tile * 8 + e % 2 * 4) & 1) == 0) mine[tile][e] = -INFINITY;
      }
    }
  }

  /// As mla_dense/fp8_512_64.cu has it.
  __device__ void tile() {
    const std::uint32_t stage = memory.stage(ring.stage);
    const std::uint32_t counts = counting();
    float mine[kTilesAWarp][4];
    std::uint32_t scales[kTiles];
    {
      float scores[kTiles][4];
      warp.multiply_keys(stage, scores, scales);
      warp.hand_out(scores);
      warp.barrier();
      warp.collect(mine, scores);
    }
    mask(mine, counts);
    float added[2];
    const bool above = warp.weigh(mine, added);
    if (ptx::barrier_or(fp8::kAllBarrier, fp8::kThreads, above)) {
      warp.move_references(mine);
      warp.weigh(mine, added);
      warp.barrier();
    }
    warp.sum[0] += added[0];
    warp.sum[1] += added[1];
    warp.multiply_values(stage, scales);
    ptx::mbarrier_arrive(memory.used(ring.stage));
  }

  __device__ void run(const CtaItems& items) {
    for (int i = items.begin; i < items.end; ++i) {
      warp.begin(items.get(i));
      for (int token = warp.item.token_begin; token < warp.item.token_end; token += kTokens) {
        wait(memory.full(ring.stage), ring.parity);
        tile();
        ring.advance(kStages);
      }
      warp.finish();
    }
  }
};

}  // namespace headsplit::kernels::dense::gather
