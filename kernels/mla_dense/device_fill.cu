#include <algorithm>

#include "kernels/bf16.h"
#include "kernels/device/ptx.cuh"
#include "kernels/e4m3.h"
#include "kernels/mla_dense/device_fill.h"
#include "kernels/random_value.h"

namespace headsplit::kernels::dense {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksMax = 4096;
constexpr std::uint16_t kNan = 0x7FFF;

/// Index into the whole query of an index into ours.
__device__ std::int64_t whole_index(const QuerySource& source, std::int64_t index) {
  if (source.heads == 0) return index;
  const std::int64_t row = index / source.d_qk;
  const std::int64_t token =
      row / source.local_heads + std::int64_t{source.first_request} * source.query_tokens;
  const std::int64_t whole_row =
      token * source.heads + source.first_head + row % source.local_heads;
  return whole_row * source.d_qk + index % source.d_qk;
}

__global__ void fill_query_kernel(std::uint16_t* query, std::int64_t count, std::uint64_t seed,
                                  QuerySource source) {
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += stride) {
    const auto index = static_cast<std::uint64_t>(whole_index(source, i));
    query[i] = bf16_bits(random_value(seed, Tensor::query, index));
  }
}

/// A random value as stored; of bytes e4m3.
template <class Value>
__device__ Value stored_bits(float value, std::uint64_t seed) {
  if constexpr (sizeof(Value) == 1) return e4m3_bits(value / fp8_tensor_scale(seed));
  return bf16_bits(value);
}

/// Rows that are values of one type.  A block takes slots, its threads their values.
template <class Value>
__global__ void fill_cache_kernel(Value* cache, const std::int32_t* used_slots, std::int64_t slots,
                                  int page_tokens, int d_qk, std::uint64_t seed,
                                  const std::int32_t* source_pages) {
  constexpr Value kNone = sizeof(Value) == 1 ? 0xFF : kNan;
  for (std::int64_t slot = blockIdx.x; slot < slots; slot += gridDim.x) {
    const bool used = slot % page_tokens < used_slots[slot / page_tokens];
    const std::int64_t page = slot / page_tokens;
    const std::int64_t whole_page = source_pages == nullptr ? page : source_pages[page];
    const std::int64_t whole_slot = whole_page * page_tokens + slot % page_tokens;
    for (int dim = threadIdx.x; dim < d_qk; dim += kThreads) {
      const auto index = static_cast<std::uint64_t>(whole_slot * d_qk + dim);
      cache[slot * d_qk + dim] =
          used ? stored_bits<Value>(random_value(seed, Tensor::cache, index), seed) : kNone;
    }
  }
}

/// A block takes slots, its threads the values of each: e4m3, scales, RoPE.
__global__ void fill_fp8_cache_kernel(unsigned char* cache, const std::int32_t* used_slots,
                                      std::int64_t slots, int page_tokens, int d_latent, int d_rope,
                                      std::uint64_t seed, const std::int32_t* source_pages) {
  const int tiles = d_latent / kFp8ScaleTile;
  const int row_bytes = d_latent + 4 * tiles + 2 * d_rope;
  for (std::int64_t slot = blockIdx.x; slot < slots; slot += gridDim.x) {
    unsigned char* const row = cache + slot * row_bytes;
    const std::int64_t page = slot / page_tokens;
    if (slot % page_tokens >= used_slots[page]) {
      for (int i = threadIdx.x; i < row_bytes; i += kThreads) row[i] = 0xFF;  // NaN of all types
      continue;
    }
    const std::int64_t whole_page = source_pages == nullptr ? page : source_pages[page];
    const auto whole = static_cast<std::uint64_t>(whole_page * page_tokens + slot % page_tokens);
    const auto value = [&](int dim) {
      return random_value(seed, Tensor::cache, whole * (d_latent + d_rope) + dim);
    };
    const auto scale = [&](int tile) { return fp8_cache_scale(seed, whole * tiles + tile); };
    auto* const scales = reinterpret_cast<float*>(row + d_latent);
    auto* const rope = reinterpret_cast<std::uint16_t*>(row + d_latent + 4 * tiles);
    for (int dim = threadIdx.x; dim < d_latent; dim += kThreads) {
      row[dim] = e4m3_bits(value(dim) / scale(dim / kFp8ScaleTile));
    }
    for (int i = threadIdx.x; i < tiles; i += kThreads) scales[i] = scale(i);
    for (int i = threadIdx.x; i < d_rope; i += kThreads) rope[i] = bf16_bits(value(d_latent + i));
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
                       cudaStream_t stream, const QuerySource& source) {
  const auto blocks = std::min<std::int64_t>((count + kThreads - 1) / kThreads, kBlocksMax);
  fill_query_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(query, count, seed,
                                                                            source);
  return cudaGetLastError();
}

cudaError_t fill_cache(std::uint16_t* cache, const std::int32_t* used_slots,
                       std::int64_t page_count, int page_tokens, int d_qk, std::uint64_t seed,
                       cudaStream_t stream, const std::int32_t* source_pages) {
  const std::int64_t slots = page_count * page_tokens;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(slots, kBlocksMax));
  fill_cache_kernel<<<blocks, kThreads, 0, stream>>>(cache, used_slots, slots, page_tokens, d_qk,
                                                     seed, source_pages);
  return cudaGetLastError();
}

cudaError_t fill_fp8_tensor_cache(unsigned char* cache, const std::int32_t* used_slots,
                                  std::int64_t page_count, int page_tokens, int d_qk,
                                  std::uint64_t seed, cudaStream_t stream,
                                  const std::int32_t* source_pages) {
  const std::int64_t slots = page_count * page_tokens;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(slots, kBlocksMax));
  fill_cache_kernel<<<blocks, kThreads, 0, stream>>>(cache, used_slots, slots, page_tokens, d_qk,
                                                     seed, source_pages);
  return cudaGetLastError();
}

cudaError_t fill_fp8_cache(unsigned char* cache, const std::int32_t* used_slots,
                           std::int64_t page_count, int page_tokens, int d_latent, int d_rope,
                           std::uint64_t seed, cudaStream_t stream,
                           const std::int32_t* source_pages) {
  const std::int64_t slots = page_count * page_tokens;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(slots, kBlocksMax));
  fill_fp8_cache_kernel<<<blocks, kThreads, 0, stream>>>(cache, used_slots, slots, page_tokens,
                                                         d_latent, d_rope, seed, source_pages);
  return cudaGetLastError();
}

}  // namespace headsplit::kernels::dense
