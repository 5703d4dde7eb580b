// out = sum_s w_s out_s,  w_s = exp(lse_s - lse),  lse = log sum_s exp(lse_s)
// for each packed row that was split over the context; partials [slots, tile_rows, d_latent] fp32.
// Bound: the bytes of the partials, which are mostly still in L2.  A warp merges 128 dimensions of
// one row; where there are many partials, eight warps share them.

#include "kernels/device/ptx.cuh"
#include "kernels/mla_dense/softmax_constants.h"
#include "kernels/mla_dense/split_kernel.h"

namespace headsplit::kernels::dense {
namespace {

__device__ float warp_max(float value) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xFFFFFFFF, value, lanes));
  }
  return value;
}

__device__ float warp_sum(float value) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(0xFFFFFFFF, value, lanes);
  return value;
}

/// LSEs of a row's partials, `stride` apart.
struct PartialLse {
  const float* first;
  int count;
  int stride;
  float largest = -INFINITY;
  float sum = 0;  ///< of exp(lse - largest)

  __device__ void reduce(int lane) {
    for (int s = lane; s < count; s += 32) largest = fmaxf(largest, first[s * stride]);
    largest = warp_max(largest);
    if (largest == -INFINITY) return;  // a row that attends to nothing
    for (int s = lane; s < count; s += 32) sum += weight(s);
    sum = warp_sum(sum);
  }
  __device__ float weight(int s) const {
    return ptx::exp2_approx((first[s * stride] - largest) * kLog2e);
  }
};

/// This lane's four dimensions, weighted, of partials begin, begin + step, ...
__device__ float4 weighted_sum(const PartialLse& lse, const float* values, std::int64_t stride,
                               int begin, int step) {
  float4 total = make_float4(0, 0, 0, 0);
#pragma unroll 8
  for (int s = begin; s < lse.count; s += step) {
    const float weight = lse.weight(s);
    const float4 part = *reinterpret_cast<const float4*>(values + s * stride);
    total.x += weight * part.x;
    total.y += weight * part.y;
    total.z += weight * part.z;
    total.w += weight * part.w;
  }
  return total;
}

/// kWarps warps a CTA, kSplitWarps of them for each output.
template <int kWarps, int kSplitWarps>
__global__ void __launch_bounds__(32 * kWarps)
    combine_kernel(const __grid_constant__ CombineArguments arguments) {
  const MergeItem merge = arguments.merges[blockIdx.y];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int chunks = arguments.d_latent / kCombineDims;
  const int output = blockIdx.x * (kWarps / kSplitWarps) + warp / kSplitWarps;
  const int row = output / chunks;
  if (row >= merge.row_count) return;  // the same for all warps of an output
  ptx::wait_for_previous_kernel();     // what comes before is of the plan

  const std::int64_t partial_row = std::int64_t{merge.slot_begin} * arguments.tile_rows + row;
  PartialLse lse{arguments.partial_lse + partial_row, merge.slot_count, arguments.tile_rows};
  lse.reduce(lane);
  const int dim = output % chunks * kCombineDims + lane * 4;
  float4 total = make_float4(0, 0, 0, 0);
  if (lse.sum > 0) {
    total = weighted_sum(lse, arguments.partial_output + partial_row * arguments.d_latent + dim,
                         std::int64_t{arguments.tile_rows} * arguments.d_latent, warp % kSplitWarps,
                         kSplitWarps);
  }
  if constexpr (kSplitWarps > 1) {
    __shared__ float4 of_warp[kWarps][32];
    of_warp[warp][lane] = total;
    __syncthreads();
    if (warp > 0) return;
#pragma unroll
    for (int other = 1; other < kSplitWarps; ++other) {
      const float4 part = of_warp[other][lane];
      total = make_float4(total.x + part.x, total.y + part.y, total.z + part.z, total.w + part.w);
    }
  }
  const std::int64_t target =
      std::int64_t{merge.request} * arguments.packed_rows + merge.row_begin + row;
  const float inverse = lse.sum > 0 ? 1 / lse.sum : 0;
  *reinterpret_cast<uint2*>(arguments.output + target * arguments.d_latent + dim) =
      make_uint2(ptx::pack_bf16(total.x * inverse, total.y * inverse),
                 ptx::pack_bf16(total.z * inverse, total.w * inverse));
  if (dim == 0) arguments.lse[target] = lse.sum > 0 ? lse.largest + logf(lse.sum) : -INFINITY;
}

constexpr CombineKernel kKernels[] = {
    {.threads = 128, .split_warps = 1, .function = combine_kernel<4, 1>},
    {.threads = 256, .split_warps = 8, .function = combine_kernel<8, 8>}};

}  // namespace

std::span<const CombineKernel> combine_kernels() { return kKernels; }

}  // namespace headsplit::kernels::dense
