// mla_sparse on the FP8 cache on Hopper, more than 16 heads: mla_dense's wgmma kernel for many
// packed rows (fp8_wide_run.cuh) on rows of the cache that are gathered by an index list.  A
// request is a list here, and packed rows are the heads of its query token. Bound: the tensor pipe,
// 2,176 cycles a step of 64 tokens and 64 heads.  docs/mla-sparse.md.

#include "kernels/mla_dense/fp8_wide_run.cuh"
#include "kernels/mla_sparse/gathered_rows.cuh"

namespace headsplit::kernels::dense::wide {
namespace {

template <int kRows>
__global__ void __launch_bounds__(kThreads, 1)
    gather_kernel(const __grid_constant__ SplitArguments arguments) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  run<GatheredRows, kRows>(arguments);
#endif
}

constexpr SplitKernel kGatherKernels[] = {
    split_kernel_of<32>("wgmma in f16, gathered", {1.9, 3, 2.3}, gather_kernel<32>),
    split_kernel_of<64>("wgmma in f16, gathered", {2.5, 5.5, 4}, gather_kernel<64>)};

}  // namespace
}  // namespace headsplit::kernels::dense::wide

namespace headsplit::kernels::dense {

std::span<const SplitKernel> gather_kernels_wide() { return wide::kGatherKernels; }

}  // namespace headsplit::kernels::dense
