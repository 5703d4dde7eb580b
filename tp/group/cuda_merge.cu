#include <algorithm>
#include <cstddef>

#include "kernels/bf16.h"
#include "tp/group/cuda_merge.h"

/// Merging of context-parallel partial outputs: out = sum_r w_r out_r, w_r = exp(lse_r - lse),
/// lse = log sum_r exp(lse_r).  All of it is memory-bound and small beside the attention: a block
/// takes a row, its threads the values.
namespace headsplit::tp {
namespace {

using kernels::bf16_bits;
using kernels::bf16_value;

constexpr int kThreads = 128;
constexpr std::int64_t kBlocksMax = 65535;

unsigned blocks_for(std::int64_t rows) {
  return static_cast<unsigned>(std::clamp<std::int64_t>(rows, 1, kBlocksMax));
}

/// Log-sum-exp of `ranks` values, `stride` apart; -infinity where there is nothing.
__device__ float lse_of(const float* lse, int ranks, std::int64_t stride) {
  float largest = -INFINITY;
  for (int rank = 0; rank < ranks; ++rank) largest = fmaxf(largest, lse[rank * stride]);
  if (largest == -INFINITY) return largest;
  float sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += expf(lse[rank * stride] - largest);
  return largest + logf(sum);
}

__device__ float weight_of(float lse, float of_all) {
  return lse == -INFINITY ? 0.0f : expf(lse - of_all);
}

__global__ void pack_kernel(MergeArguments merge, std::byte* packed, std::int64_t row_bytes) {
  for (std::int64_t row = blockIdx.x; row < merge.rows; row += gridDim.x) {
    std::byte* to = packed + row * row_bytes;
    for (int d = threadIdx.x; d < merge.d_latent; d += kThreads) {
      reinterpret_cast<std::uint16_t*>(to)[d] = merge.values[row * merge.d_latent + d];
    }
    if (threadIdx.x == 0) reinterpret_cast<float*>(to + 2 * merge.d_latent)[0] = merge.lse[row];
  }
}

__global__ void merge_packed_kernel(MergeArguments merge, const std::byte* received, float* values,
                                    float* lse, std::int64_t row_bytes) {
  const std::int64_t rank_bytes = merge.rows_a_rank * row_bytes;
  for (std::int64_t row = blockIdx.x; row < merge.count; row += gridDim.x) {
    const std::byte* first = received + row * row_bytes;
    const auto* lses = reinterpret_cast<const float*>(first + 2 * merge.d_latent);
    const std::int64_t stride = rank_bytes / 4;
    const float of_all = lse_of(lses, merge.ranks, stride);
    if (threadIdx.x == 0) lse[row] = of_all;
    for (int d = threadIdx.x; d < merge.d_latent; d += kThreads) {
      float sum = 0;
      for (int rank = 0; rank < merge.ranks; ++rank) {
        const float weight = weight_of(lses[rank * stride], of_all);
        const auto* from = reinterpret_cast<const std::uint16_t*>(first + rank * rank_bytes);
        if (weight > 0) sum += weight * bf16_value(from[d]);
      }
      values[row * merge.d_latent + d] = sum;
    }
  }
}

__global__ void pad_kernel(MergeArguments merge, float* own_lse) {
  const std::int64_t padded = merge.ranks * merge.rows_a_rank;
  for (std::int64_t row = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; row < padded;
       row += std::int64_t{gridDim.x} * kThreads) {
    own_lse[row] = row < merge.rows ? merge.lse[row] : -INFINITY;
  }
}

__global__ void weigh_kernel(MergeArguments merge, const float* all_lse, std::uint16_t* weighted,
                             float* lse) {
  const std::int64_t padded = merge.ranks * merge.rows_a_rank;
  for (std::int64_t row = blockIdx.x; row < merge.rows; row += gridDim.x) {
    const float of_all = lse_of(all_lse + row, merge.ranks, padded);
    const std::int64_t merged = row - merge.begin;
    if (threadIdx.x == 0 && merged >= 0 && merged < merge.count) lse[merged] = of_all;
    const float weight = weight_of(merge.lse[row], of_all);
    for (int d = threadIdx.x; d < merge.d_latent; d += kThreads) {
      const std::int64_t at = row * merge.d_latent + d;
      weighted[at] =
          weight > 0 ? bf16_bits(weight * bf16_value(merge.values[at])) : std::uint16_t{0};
    }
  }
}

__global__ void widen_kernel(const std::uint16_t* in, float* out, std::int64_t count) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
       i += std::int64_t{gridDim.x} * kThreads) {
    out[i] = bf16_value(in[i]);
  }
}

}  // namespace

cudaError_t pack_partials(const MergeArguments& merge, std::byte* packed, cudaStream_t stream) {
  pack_kernel<<<blocks_for(merge.rows), kThreads, 0, stream>>>(merge, packed,
                                                               packed_row_bytes(merge.d_latent));
  return cudaGetLastError();
}

cudaError_t merge_packed(const MergeArguments& merge, const std::byte* received, float* values,
                         float* lse, cudaStream_t stream) {
  merge_packed_kernel<<<blocks_for(merge.count), kThreads, 0, stream>>>(
      merge, received, values, lse, packed_row_bytes(merge.d_latent));
  return cudaGetLastError();
}

cudaError_t pad_lse(const MergeArguments& merge, float* own_lse, cudaStream_t stream) {
  const std::int64_t padded = merge.ranks * merge.rows_a_rank;
  pad_kernel<<<blocks_for((padded + kThreads - 1) / kThreads), kThreads, 0, stream>>>(merge,
                                                                                      own_lse);
  return cudaGetLastError();
}

cudaError_t weigh_partials(const MergeArguments& merge, const float* all_lse,
                           std::uint16_t* weighted, float* lse, cudaStream_t stream) {
  weigh_kernel<<<blocks_for(merge.rows), kThreads, 0, stream>>>(merge, all_lse, weighted, lse);
  return cudaGetLastError();
}

cudaError_t widen(const std::uint16_t* in, float* out, std::int64_t count, cudaStream_t stream) {
  widen_kernel<<<blocks_for((count + kThreads - 1) / kThreads), kThreads, 0, stream>>>(in, out,
                                                                                       count);
  return cudaGetLastError();
}

}  // namespace headsplit::tp
