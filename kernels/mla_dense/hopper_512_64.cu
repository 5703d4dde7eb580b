// Absorbed MLA decode attention on Hopper for more than 32 packed rows (shapes and types:
// split_arguments.h):
//   s_rj = scale x q_r . k_j,  p_r = softmax(s_r),  out_r = sum_j p_rj k_j[0 .. 512)
// Instructions: wgmma, cp.async, mbarrier.
// Bound: bytes up to 64 rows; beyond, the tensor pipe at the clock that the power cap leaves, and
// the latency of the cache tiles, for which shared memory has room for five of 32 tokens.
// Arithmetic, measurements and what was tried: docs/mla-dense.md.

#include "kernels/mla_dense/hopper_run.cuh"

namespace headsplit::kernels::dense::hopper {
namespace {

__global__ void __launch_bounds__(kThreads, 1)
    split_kernel(const __grid_constant__ SplitArguments arguments) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  run<false>(arguments);
#endif
}

constexpr SplitKernel kKernels[] = {split_kernel_of("wgmma", split_kernel)};

}  // namespace
}  // namespace headsplit::kernels::dense::hopper

namespace headsplit::kernels::dense {

std::span<const SplitKernel> split_kernels_hopper() { return hopper::kKernels; }

}  // namespace headsplit::kernels::dense
