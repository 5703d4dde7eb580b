// Absorbed MLA decode attention on the FP8 cache on Hopper, more than 16 packed rows (shapes and
// types: split_arguments.h; the cache's rows: fp8_shape.h):
//   s_rj = scale x q_r . k_j,  p_r = softmax(s_r),  out_r = sum_j p_rj k_j[0 .. 512)
//   k_j[d] = e4m3[j][d] x scale[j][d / 128] for d < 512, bf16 beyond;
//   with one scale k_j[d] = e4m3[j][d] x scale for all d
// Instructions: wgmma with the first operand in registers (f16, and bf16 for RoPE), cvt e4m3 to
// f16, ldmatrix, stmatrix, cp.async.bulk, mbarrier.
// Bound: the tensor pipe, 2,176 cycles a step of 64 tokens and 64 rows; bytes for fewer rows.
// Arithmetic and measurements: docs/mla-dense-fp8.md.

#include "kernels/mla_dense/fp8_wide_run.cuh"

namespace headsplit::kernels::dense::wide {
namespace {

template <int kRows, class Row>
__global__ void __launch_bounds__(kThreads, 1)
    split_kernel(const __grid_constant__ SplitArguments arguments) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  run<PagedRows<Row>, kRows>(arguments);
#endif
}

constexpr SplitKernel kKernels[] = {
    split_kernel_of<32>("wgmma in f16", {1.55, 5, 2.5}, split_kernel<32, Row656>),
    split_kernel_of<64>("wgmma in f16", {2.25, 3.25, 7}, split_kernel<64, Row656>)};
constexpr SplitKernel kOneScaleKernels[] = {
    split_kernel_of<32, Row576>("wgmma in f16", {1.45, 5.25, 1.5}, split_kernel<32, Row576>),
    split_kernel_of<64, Row576>("wgmma in f16", {1.95, 1.5, 8}, split_kernel<64, Row576>)};

}  // namespace
}  // namespace headsplit::kernels::dense::wide

namespace headsplit::kernels::dense {

std::span<const SplitKernel> split_kernels_fp8_wide() { return wide::kKernels; }
std::span<const SplitKernel> split_kernels_fp8_tensor_wide() { return wide::kOneScaleKernels; }

}  // namespace headsplit::kernels::dense
