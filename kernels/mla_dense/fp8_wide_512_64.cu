// Absorbed MLA decode attention on the FP8 cache on Hopper, more than 16 packed rows (shapes and
// types: split_arguments.h; the cache's rows: fp8_shape.h):
//   s_rj = scale x q_r . k_j,  p_r = softmax(s_r),  out_r = sum_j p_rj k_j[0 .. 512)
//   k_j[d] = e4m3[j][d] x scale[j][d / 128] for d < 512, bf16 beyond
// Instructions: wgmma with the first operand in registers (f16, and bf16 for RoPE), cvt e4m3 to
// f16, ldmatrix, stmatrix, cp.async.bulk, mbarrier.
// Bound: the tensor pipe, 2,176 cycles a step of 64 tokens and 64 rows; bytes for fewer rows.
// Arithmetic and measurements: docs/mla-dense-fp8.md.

#include "kernels/mla_dense/fp8_wide_run.cuh"
#include "kernels/mla_dense/split_kernel.h"

namespace headsplit::kernels::dense::wide {
namespace {

template <int kRows>
__global__ void __launch_bounds__(kThreads, 1)
    split_kernel(const __grid_constant__ SplitArguments arguments) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  run<PagedRows, kRows>(arguments);
#endif
}

template <int kRows>
constexpr SplitKernel kernel_of(double step_us, double item_us, double start_us) {
  using Memory = SharedMemory<kRows>;
  return {.name = "wgmma in f16",
          .rows = kRows,
          .block_rows = kRows,
          .tokens = kTokens,
          .threads = kThreads,
          .fixed_bytes = Memory::kBytes - Memory::kStages * kStageBytes,
          .stage_bytes = kStageBytes,
          .stages_min = Memory::kStages,
          .stages_max = Memory::kStages,
          .step_us = step_us,
          .item_us = item_us,
          .start_us = start_us,
          .hopper = true,
          .compute_major_min = 9,
          .function = split_kernel<kRows>};
}

constexpr SplitKernel kKernels[] = {kernel_of<32>(1.55, 5, 2.5), kernel_of<64>(2.25, 3.25, 7)};

}  // namespace
}  // namespace headsplit::kernels::dense::wide

namespace headsplit::kernels::dense {

std::span<const SplitKernel> split_kernels_fp8_wide() { return wide::kKernels; }

}  // namespace headsplit::kernels::dense
