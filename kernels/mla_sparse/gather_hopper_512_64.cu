// mla_sparse on a bf16 cache on Hopper, more than 32 heads: mla_dense's wgmma kernel, whose loaders
// gather rows of the cache by an index list (hopper_run.cuh).  A request is a list here, and packed
// rows are the heads of its query token.  Bound: bytes up to 64 heads.  docs/mla-sparse.md.
#include "kernels/mla_dense/hopper_run.cuh"

namespace headsplit::kernels::dense::hopper {
namespace {

__global__ void __launch_bounds__(kThreads, 1)
    gather_kernel(const __grid_constant__ SplitArguments arguments) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  run<true>(arguments);
#endif
}

constexpr SplitKernel kGatherKernels[] = {split_kernel_of("wgmma, gathered", gather_kernel)};

}  // namespace
}  // namespace headsplit::kernels::dense::hopper

namespace headsplit::kernels::dense {

std::span<const SplitKernel> gather_kernels_hopper() { return hopper::kGatherKernels; }

}  // namespace headsplit::kernels::dense
