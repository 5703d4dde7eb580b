#include <algorithm>

#include "kernels/bf16.h"
#include "kernels/device/ptx.cuh"
#include "kernels/mla_dense/device_fill.h"
#include "kernels/random_value.h"

namespace headsplit::kernels::dense {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksMax = 4096;
constexpr std::uint16_t kNan = 0x7FFF;

__global__ void fill_query_kernel(std::uint16_t* query, std::int64_t count, std::uint64_t seed) {
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += stride) {
    query[i] = bf16_bits(random_value(seed, Tensor::query, static_cast<std::uint64_t>(i)));
  }
}

/// A block takes slots, its threads their values.
__global__ void fill_cache_kernel(std::uint16_t* cache, const std::int32_t* used_slots,
                                  std::int64_t slots, int page_tokens, int d_qk,
                                  std::uint64_t seed) {
  for (std::int64_t slot = blockIdx.x; slot < slots; slot += gridDim.x) {
    const bool used = slot % page_tokens < used_slots[slot / page_tokens];
    for (int dim = threadIdx.x; dim < d_qk; dim += kThreads) {
      const std::int64_t i = slot * d_qk + dim;
      cache[i] =
          used ? bf16_bits(random_value(seed, Tensor::cache, static_cast<std::uint64_t>(i))) : kNan;
    }
  }
}

__global__ void policy_kernel(std::uint64_t* policies) {
  policies[0] = ptx::evict_first_policy();
  policies[1] = ptx::evict_normal_policy();
}

}  // namespace

cudaError_t make_policies(std::uint64_t* policies, cudaStream_t stream) {
  policy_kernel<<<1, 1, 0, stream>>>(policies);
  return cudaGetLastError();
}

cudaError_t fill_query(std::uint16_t* query, std::int64_t count, std::uint64_t seed,
                       cudaStream_t stream) {
  const auto blocks = std::min<std::int64_t>((count + kThreads - 1) / kThreads, kBlocksMax);
  fill_query_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(query, count, seed);
  return cudaGetLastError();
}

cudaError_t fill_cache(std::uint16_t* cache, const std::int32_t* used_slots,
                       std::int64_t page_count, int page_tokens, int d_qk, std::uint64_t seed,
                       cudaStream_t stream) {
  const std::int64_t slots = page_count * page_tokens;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(slots, kBlocksMax));
  fill_cache_kernel<<<blocks, kThreads, 0, stream>>>(cache, used_slots, slots, page_tokens, d_qk,
                                                     seed);
  return cudaGetLastError();
}

}  // namespace headsplit::kernels::dense
