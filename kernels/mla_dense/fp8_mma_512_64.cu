// Absorbed MLA decode attention with products in FP8 on Hopper (shapes and types:
// split_arguments.h; rows of the cache: 512 + 64 e4m3 values, one scale for all of them):
//   s_rj = scale x q_r . k_j,  p_r = softmax(s_r),  out_r = sum_j p_rj k_j[0 .. 512)
// Queries become e4m3 with a scale a row, weights e4m3 relative to a reference of the row: what
// that costs is in docs/mla-dense-fp8.md.
// Instructions: wgmma in e4m3, from shared memory (scores) and with values in registers, ldmatrix,
// stmatrix, cp.async, mbarrier.
// Bound: bytes up to 64 packed rows; beyond, the port of shared memory and the tensor pipe (1,376
// and 1,088 cycles a step of 64 tokens and 64 rows).

#include "kernels/mla_dense/fp8_mma_scores.cuh"
#include "kernels/mla_dense/fp8_mma_values.cuh"
#include "kernels/mla_dense/split_kernel.h"

namespace headsplit::kernels::dense::mma {
namespace {

__global__ void __launch_bounds__(kThreads, 1)
    split_kernel(const __grid_constant__ SplitArguments arguments) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  const SharedMemory memory{ptx::shared_address(shared_bytes)};
  ptx::allow_dependent_launch();  // the combine kernel waits for the end of this one itself
  if (threadIdx.x == 0) memory.init_barriers();
  __syncthreads();
  const int group = __shfl_sync(0xFFFFFFFF, int(threadIdx.x) / kGroupThreads, 0);
  const int warp = __shfl_sync(0xFFFFFFFF, int(threadIdx.x) / 32 % kGroupWarps, 0);
  const int lane = threadIdx.x % 32;
  const CtaItems items = CtaItems::of_this_cta(arguments);
  if (group < kScoresGroups) {
    ptx::give_registers<kScoresRegisters>();
    ScoresGroup{.arguments = arguments,
                .memory = memory,
                .items = items,
                .group = group,
                .warp = warp,
                .lane = lane,
                .loader = {arguments, memory, items, warp, lane}}
        .run();
  } else {
    ptx::take_registers<kValuesRegisters>();
    ValuesGroup{.arguments = arguments,
                .memory = memory,
                .items = items,
                .half_of_dims = group - kScoresGroups,
                .warp = warp,
                .lane = lane}
        .run();
  }
#endif
}

constexpr SplitKernel kKernels[] = {
    {.name = "wgmma in e4m3",
     .rows = kRows,
     .block_rows = kRows,
     .tokens = kTokens,
     .threads = kThreads,
     .fixed_bytes = SharedMemory::kBytes - SharedMemory::kStages * kTileBytes,
     .stage_bytes = kTileBytes,
     .stages_min = SharedMemory::kStages,
     .stages_max = SharedMemory::kStages,
     .scratch_bytes = kScratchBytes,
     .step_us = 1.15,
     .item_us = 3,
     .start_us = 12,
     .hopper = true,
     .compute_major_min = 9,
     .function = split_kernel}};

}  // namespace
}  // namespace headsplit::kernels::dense::mma

namespace headsplit::kernels::dense {

std::span<const SplitKernel> split_kernels_fp8_mma() { return mma::kKernels; }

}  // namespace headsplit::kernels::dense
