// mla_sparse on the FP8 cache, up to 16 heads a CTA: the products and the softmax of mla_dense's
// FP8 kernel (fp8_warp.cuh) on rows of the cache that other warps gather by an index list.  A
// request is a list here, and packed rows are the heads of its query token.
//   s_rj = scale x q_r . k_j,  p_r = softmax(s_r),  out_r = sum_j p_rj k_j[0 .. 512)
// for the slots j of the list that count.  Instructions: mma.sync (f16, and bf16 for RoPE), cvt
// e4m3 to f16, ldmatrix, cp.async, mbarrier.
// Bound: bytes, with two CTAs an SM.  docs/mla-sparse.md.

#include "kernels/mla_dense/split_kernel.h"
#include "kernels/mla_sparse/gather_few.cuh"

namespace headsplit::kernels::dense::gather {
namespace {

/// Where registers cannot move from warps to others, one CTA has them all.
#if __CUDA_ARCH_FEAT_SM90_ALL
constexpr bool kMovesRegisters = true;
#else
constexpr bool kMovesRegisters = false;
#endif

__global__ void __launch_bounds__(kThreads, kMovesRegisters ? fp8::kCtasPerSm : 1)
    gather_kernel(const __grid_constant__ SplitArguments arguments) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  const SharedMemory memory{{ptx::shared_address(shared_bytes)}};
  ptx::allow_dependent_launch();  // the combine kernel waits for the end of this one itself
  if (threadIdx.x == 0) memory.init_barriers();
  __syncthreads();
  const int warp = __shfl_sync(0xFFFFFFFF, int(threadIdx.x) / 32, 0);
  const int lane = threadIdx.x % 32;
  const CtaItems items = CtaItems::of_this_cta(arguments);
  if (warp < fp8::kWarps) {
    if constexpr (kMovesRegisters) ptx::take_registers<kComputeRegisters>();
    Computer{.memory = memory,
             .warp = {.arguments = arguments, .memory = memory.common, .warp = warp, .lane = lane}}
        .run(items);
  } else {
    if constexpr (kMovesRegisters) ptx::give_registers<kLoaderRegisters>();
    Loader{memory, items, {arguments, warp - fp8::kWarps, lane}}.run();
  }
#endif
}

constexpr SplitKernel kKernels[] = {{
    .name = "mma.sync in f16, gathered",
    .rows = kRows,
    .block_rows = kRows,
    .tokens = kTokens,
    .threads = kThreads,
    .ctas_per_sm = fp8::kCtasPerSm,
    .fixed_bytes = SharedMemory::kBytes - kStages * kStageBytes,
    .stage_bytes = kStageBytes,
    .stages_min = kStages,
    .stages_max = kStages,
    .step_us = 2.4,
    .alone_step_us = 1.5,
    .item_us = 2,
    .start_us = 2,
    .cache_bytes_per_us = 3.4e6,
    .compute_major_min = 9,
    .function = gather_kernel,
}};

}  // namespace
}  // namespace headsplit::kernels::dense::gather

namespace headsplit::kernels::dense {

std::span<const SplitKernel> gather_kernels_fp8_512_64() { return gather::kKernels; }

}  // namespace headsplit::kernels::dense
