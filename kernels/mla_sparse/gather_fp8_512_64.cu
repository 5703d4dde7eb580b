// mla_sparse on the FP8 cache, up to 16 heads a CTA: the products and the softmax of mla_dense's
// FP8 kernel (fp8_warp.cuh) on rows of the cache that are gathered by an index list.  A request is
// a list here, and packed rows are the heads of its query token.
//   s_rj = scale x q_r . k_j,  p_r = softmax(s_r),  out_r = sum_j p_rj k_j[0 .. 512)
// for the slots j of the list that count.  Instructions: mma.sync (f16, and bf16 for RoPE), cvt
// e4m3 to f16, ldmatrix, cp.async.  Bound: bytes, with two CTAs an SM.  docs/mla-sparse.md.

#include "kernels/device/ring.cuh"
#include "kernels/mla_dense/fp8_item.cuh"
#include "kernels/mla_dense/fp8_products.cuh"
#include "kernels/mla_dense/fp8_softmax.cuh"
#include "kernels/mla_dense/split_kernel.h"
#include "kernels/mla_sparse/gather_loader.cuh"

namespace headsplit::kernels::dense::fp8 {
namespace {

/// A warp of the kernel with its share of the gathering.
struct GatherWarp {
  Warp warp;
  GatherLoader loader;
  std::uint32_t counts = 0;  ///< which of this warp's tokens of the tile count
  std::uint32_t counts_next = 0;

  __device__ void mask(float (&mine)[kTilesAWarp][4]) const {
    const std::uint32_t of_lane = counts >> (warp.lane % 4);
#pragma unroll
    for (int tile = 0; tile < kTilesAWarp; ++tile) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        if ((of_lane >> (tile * 8 + e % 2 * 4) & 1) == 0) mine[tile][e] = -INFINITY;
      }
    }
  }

  /// As fp8_512_64.cu has it; the first tiles have been asked for before.
  __device__ void tile(std::uint32_t stage, bool loads) {
    float mine[kTilesAWarp][4];
    std::uint32_t scales[kTiles];
    {
      float scores[kTiles][4];
      warp.multiply_keys(stage, scores, scales);
      warp.hand_out(scores);
      warp.barrier();
      if (loads) counts_next = loader.start();
      warp.collect(mine, scores);
    }
    mask(mine);
    float added[2];
    const bool above = warp.weigh(mine, added);
    if (ptx::barrier_or(kAllBarrier, kThreads, above)) {
      warp.move_references(mine);
      warp.weigh(mine, added);
      warp.barrier();
    }
    warp.sum[0] += added[0];
    warp.sum[1] += added[1];
    warp.multiply_values(stage, scales);
    counts = counts_next;
  }

  __device__ void run(const CtaItems& items) {
    static_assert(kStages == 2);
    loader.next_item();
    counts = loader.start();
    counts_next = loader.start();
    bool loads = false;  // both stages are on their way
    RingPosition ring{};
    for (int i = items.begin; i < items.end; ++i) {
      warp.begin(items.get(i));
      for (int token = warp.item.token_begin; token < warp.item.token_end; token += kTokens) {
        wait(warp.memory.full(ring.stage), ring.parity);
        tile(warp.memory.stage(ring.stage), loads);
        loads = true;
        ring.advance(kStages);
      }
      warp.finish();
    }
    ptx::cp_async_wait_all();
  }
};

__global__ void __launch_bounds__(kThreads, kCtasPerSm)
    gather_kernel(const __grid_constant__ SplitArguments arguments) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  const SharedMemory memory{ptx::shared_address(shared_bytes)};
  ptx::allow_dependent_launch();  // the combine kernel waits for the end of this one itself
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) ptx::mbarrier_init(memory.full(stage), kThreads);
  }
  __syncthreads();
  const int warp = __shfl_sync(0xFFFFFFFF, int(threadIdx.x) / 32, 0);
  const int lane = int(threadIdx.x) % 32;
  const CtaItems items = CtaItems::of_this_cta(arguments);
  GatherWarp{.warp = {.arguments = arguments, .memory = memory, .warp = warp, .lane = lane},
             .loader = {arguments, memory, warp, lane, items, items.begin - 1}}
      .run(items);
#endif
}

constexpr SplitKernel kGatherKernels[] = {{
    .name = "mma.sync in f16, gathered",
    .rows = kRows,
    .block_rows = kRows,
    .tokens = kTokens,
    .threads = kThreads,
    .ctas_per_sm = kCtasPerSm,
    .fixed_bytes = SharedMemory::kBytes - kStages * kStageBytes,
    .stage_bytes = kStageBytes,
    .stages_min = kStages,
    .stages_max = kStages,
    .step_us = 3.1,
    .item_us = 1.4,
    .start_us = 0.8,
    .cache_bytes_per_us = 2.5e6,
    .compute_major_min = 9,
    .function = gather_kernel,
}};

}  // namespace
}  // namespace headsplit::kernels::dense::fp8

namespace headsplit::kernels::dense {

std::span<const SplitKernel> gather_kernels_fp8_512_64() { return fp8::kGatherKernels; }

}  // namespace headsplit::kernels::dense
