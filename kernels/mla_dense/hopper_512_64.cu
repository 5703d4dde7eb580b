// Absorbed MLA decode attention on Hopper for more than 32 packed rows (shapes and types:
// split_arguments.h):
//   s_rj = scale x q_r . k_j,  p_r = softmax(s_r),  out_r = sum_j p_rj k_j[0 .. 512)
// Instructions: wgmma, cp.async, mbarrier.
// Bound: bytes up to 64 rows; beyond, the tensor pipe at the clock that the power cap leaves, and
// the latency of the cache tiles, for which shared memory has room for five of 32 tokens.
// Arithmetic, measurements and what was tried: docs/mla-dense.md.

#include "kernels/mla_dense/hopper_scores.cuh"
#include "kernels/mla_dense/hopper_values.cuh"
#include "kernels/mla_dense/split_kernel.h"

namespace headsplit::kernels::dense::hopper {
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
  const int warp = __shfl_sync(0xFFFFFFFF, int(threadIdx.x) / 32 % 4, 0);
  const int lane = threadIdx.x % 32;
  const CtaItems items = CtaItems::of_this_cta(arguments);
  if (group == 0) {
    ptx::take_registers<kScoresRegisters>();
    ScoresGroup{
        .arguments = arguments, .memory = memory, .items = items, .warp = warp, .lane = lane}
        .run();
  } else {
    ptx::give_registers<kValuesRegisters>();
    ValuesGroup{.arguments = arguments,
                .memory = memory,
                .half_of_dims = group - 1,
                .warp = warp,
                .lane = lane,
                .loader = {arguments, memory, group - 1, warp, lane, items}}
        .run();
  }
#endif
}

constexpr SplitKernel kKernels[] = {{
    .name = "wgmma",
    .rows = kRows,
    .block_rows = kRows,
    .tokens = kTokens,
    .threads = kThreads,
    .fixed_bytes = SharedMemory::kBytes - kStages * kTile.stage_bytes(),
    .stage_bytes = kTile.stage_bytes(),
    .stages_min = kStages,
    .stages_max = kStages,
    .step_us = 0.87,
    .item_us = 2.5,
    .start_us = 2.7,
    .hopper = true,
    .function = split_kernel,
}};

}  // namespace
}  // namespace headsplit::kernels::dense::hopper

namespace headsplit::kernels::dense {

std::span<const SplitKernel> split_kernels_hopper() { return hopper::kKernels; }

}  // namespace headsplit::kernels::dense
