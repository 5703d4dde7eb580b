// The plug-in of naive_mla.cc on a GPU: one warp a row, no tiles, no tensor cores, bf16 output.
//
//     nvcc -O3 -std=c++20 -arch=native -shared -Xcompiler -fPIC -I include
//         examples/plugin/naive_mla.cu -o libnaive_mla_cuda.so
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

#include "headsplit_kernel.h"

namespace {

constexpr int kWarp = 32;
constexpr int kWarpsPerBlock = 4;
constexpr int kLatentMax = 512;
constexpr int kQkMax = 576;

__device__ float sum_of_warp(float value) {
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) value += __shfl_xor_sync(~0u, value, lanes);
  return value;
}

/// One pass over the tokens with a running maximum (online softmax): each lane keeps every 32nd
/// value of the output row.
__global__ void attend(headsplit_problem p, std::int64_t rows) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kWarpsPerBlock + threadIdx.x / kWarp;
  const int lane = threadIdx.x % kWarp;
  if (row >= rows) return;
  const int heads = p.shape.local_heads, query_tokens = p.shape.query_tokens;
  const int request = static_cast<int>(row / (heads * query_tokens));
  const int query_token = static_cast<int>(row / heads % query_tokens);
  const int d_latent = p.shape.d_latent, d_qk = d_latent + p.shape.d_rope;
  const int tokens = p.lengths[request] - (query_tokens - 1 - query_token);
  const auto* cache = static_cast<const __nv_bfloat16*>(p.cache);
  const auto* query = reinterpret_cast<const __nv_bfloat16*>(p.query) + row * d_qk;

  float q[kQkMax / kWarp], sums[kLatentMax / kWarp] = {};
  for (int i = 0, d = lane; d < d_qk; ++i, d += kWarp) q[i] = __bfloat162float(query[d]);
  float largest = -INFINITY, total = 0;
  for (int token = 0; token < tokens; ++token) {
    const std::int64_t page =
        p.page_table[std::int64_t{request} * p.pages_per_request + token / p.shape.page_tokens];
    const auto* key = cache + (page * p.shape.page_tokens + token % p.shape.page_tokens) * d_qk;
    float dot = 0;
    for (int i = 0, d = lane; d < d_qk; ++i, d += kWarp) dot += q[i] * __bfloat162float(key[d]);
    const float score = sum_of_warp(dot) * p.softmax_scale;
    const float grown = fmaxf(largest, score);
    const float keep = __expf(largest - grown), weight = __expf(score - grown);
    largest = grown;
    total = total * keep + weight;
    for (int i = 0, d = lane; d < d_latent; ++i, d += kWarp) {
      sums[i] = sums[i] * keep + weight * __bfloat162float(key[d]);
    }
  }
  auto* output = static_cast<__nv_bfloat16*>(p.output) + row * d_latent;
  const float scale = tokens > 0 ? 1 / total : 0;
  for (int i = 0, d = lane; d < d_latent; ++i, d += kWarp) {
    output[d] = __float2bfloat16(sums[i] * scale);
  }
  if (lane == 0) p.lse[row] = tokens > 0 ? largest + logf(total) : -INFINITY;
}

int supports(const headsplit_shape* shape, char* why, size_t why_bytes) {
  if (shape->cache == HEADSPLIT_CACHE_BF16 && shape->d_latent <= kLatentMax &&
      shape->d_latent + shape->d_rope <= kQkMax) {
    return 0;
  }
  std::snprintf(why, why_bytes, "naive_mla_cuda reads bf16 caches of rows up to %d values", kQkMax);
  return 1;
}

int prepare(const headsplit_problem* problem, void** state, char*, size_t) {
  *state = new headsplit_problem(*problem);
  return 0;
}

int launch(void* state, void* stream, char* why, size_t why_bytes) {
  const auto& problem = *static_cast<const headsplit_problem*>(state);
  const std::int64_t rows = std::int64_t{1} * problem.shape.batch * problem.shape.query_tokens *
                            problem.shape.local_heads;
  const auto blocks = static_cast<unsigned>((rows + kWarpsPerBlock - 1) / kWarpsPerBlock);
  attend<<<blocks, kWarpsPerBlock * kWarp, 0, static_cast<cudaStream_t>(stream)>>>(problem, rows);
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) std::snprintf(why, why_bytes, "%s", cudaGetErrorString(status));
  return status == cudaSuccess ? 0 : 1;
}

void destroy(void* state) { delete static_cast<headsplit_problem*>(state); }

}  // namespace

extern "C" const headsplit_kernel* headsplit_kernel_describe() {
  static const headsplit_kernel kernel = {
      .abi_version = HEADSPLIT_KERNEL_ABI,
      .struct_bytes = sizeof(headsplit_kernel),
      .name = "naive_mla_cuda",
      .summary = "absorbed MLA decode, one warp a row",
      .operation = "mla_dense",
      .backend = HEADSPLIT_CUDA,
      .output = HEADSPLIT_OUTPUT_BF16,
      .supports = supports,
      .prepare = prepare,
      .launch = launch,
      .work = nullptr,
      .destroy = destroy,
  };
  return &kernel;
}
