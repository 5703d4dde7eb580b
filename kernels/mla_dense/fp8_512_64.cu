// Absorbed MLA decode attention on the FP8 cache, up to 16 packed rows a CTA (shapes and types:
// split_arguments.h; the cache's rows: fp8_shape.h):
//   s_rj = scale x q_r . k_j,  p_r = softmax(s_r),  out_r = sum_j p_rj k_j[0 .. 512)
//   k_j[d] = e4m3[j][d] x scale[j][d / 128] for d < 512, bf16 beyond;
//   with one scale k_j[d] = e4m3[j][d] x scale for all d
// Instructions: mma.sync (f16, and bf16 for RoPE), cvt e4m3 to f16, ldmatrix, cp.async.bulk.
// Bound: bytes, with two CTAs an SM; the tensor pipe by mma.sync needs three quarters of the time.
// Arithmetic and measurements: docs/mla-dense-fp8.md.

#include "kernels/device/ring.cuh"
#include "kernels/mla_dense/fp8_item.cuh"
#include "kernels/mla_dense/fp8_products.cuh"
#include "kernels/mla_dense/fp8_softmax.cuh"
#include "kernels/mla_dense/split_kernel.h"

namespace headsplit::kernels::dense::fp8 {

/// One step.  The tile before this one is used up when all warps have handed out their scores: its
/// stage is filled again then.
template <class Row>
__device__ __forceinline__ void WarpOn<Row>::tile(std::uint32_t stage, int token,
                                                  Loader<Row>& loader) {
  const bool tail = item.token_end - token < kTokens;
  if (tail) clear(stage, item.token_end - token);
  float mine[kTilesAWarp][4];
  std::uint32_t scales[kTiles];
  {
    float scores[kTiles][4];
    multiply_keys(stage, scores, scales);
    hand_out(scores);
    barrier();
    if (warp == 0) loader.start();
    collect(mine, scores);
  }
  mask(mine, token);
  float added[2];
  const bool above = weigh(mine, added);
  if (ptx::barrier_or(kAllBarrier, kThreads, above)) {
    move_references(mine);
    weigh(mine, added);
    barrier();
  }
  sum[0] += added[0];
  sum[1] += added[1];
  multiply_values(stage, scales);
  if (tail) ptx::fence_async_proxy();  // the copy engine writes there next
}

template <class Row>
__device__ __forceinline__ void WarpOn<Row>::run(const CtaItems& items) {
  Loader<Row> loader{arguments, memory, lane, items, items.begin - 1};
  if (warp == 0) {
    loader.next_item();
    for (int stage = 0; stage + 1 < kStages; ++stage) loader.start();
  }
  int stage = 0;
  std::uint32_t parity = 0;
  for (int i = items.begin; i < items.end; ++i) {
    begin(items.get(i));
    for (int token = item.token_begin; token < item.token_end; token += kTokens) {
      wait(memory.full(stage), parity);
      tile(memory.stage(stage), token, loader);
      if (++stage == kStages) {
        stage = 0;
        parity ^= 1;
      }
    }
    finish();
  }
}

namespace {

template <class Row>
__global__ void __launch_bounds__(kThreads, kCtasPerSm)
    split_kernel(const __grid_constant__ SplitArguments arguments) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  const SharedMemoryFor<Row> memory{ptx::shared_address(shared_bytes)};
  ptx::allow_dependent_launch();  // the combine kernel waits for the end of this one itself
  if (threadIdx.x == 0) {
    if constexpr (Row::kOneScale) ptx::prefetch_tensor_map(arguments.cache_map);
    for (int stage = 0; stage < kStages; ++stage) ptx::mbarrier_init(memory.full(stage), 1);
    ptx::fence_barrier_init();
  }
  __syncthreads();
  const int warp = __shfl_sync(0xFFFFFFFF, int(threadIdx.x) / 32, 0);
  WarpOn<Row>{.arguments = arguments, .memory = memory, .warp = warp, .lane = int(threadIdx.x) % 32}
      .run(CtaItems::of_this_cta(arguments));
#endif
}

template <class Row>
constexpr SplitKernel split_kernel_on(double step_us, double item_us, double start_us) {
  using Memory = SharedMemoryFor<Row>;
  return {.name = "mma.sync in f16",
          .rows = kRows,
          .block_rows = kRows,
          .tokens = kTokens,
          .threads = kThreads,
          .ctas_per_sm = kCtasPerSm,
          .fixed_bytes = Memory::kBytes - kStages * Memory::kStageBytes,
          .stage_bytes = Memory::kStageBytes,
          .stages_min = kStages,
          .stages_max = kStages,
          .step_us = step_us,
          .item_us = item_us,
          .start_us = start_us,
          .compute_major_min = 9,
          .function = split_kernel<Row>};
}

constexpr SplitKernel kKernels[] = {split_kernel_on<Row656>(2.05, 2, 1)};
constexpr SplitKernel kOneScaleKernels[] = {split_kernel_on<Row576>(2, 1.75, 3.5)};

}  // namespace
}  // namespace headsplit::kernels::dense::fp8

namespace headsplit::kernels::dense {

std::span<const SplitKernel> split_kernels_fp8_512_64() { return fp8::kKernels; }
std::span<const SplitKernel> split_kernels_fp8_tensor() { return fp8::kOneScaleKernels; }

}  // namespace headsplit::kernels::dense
