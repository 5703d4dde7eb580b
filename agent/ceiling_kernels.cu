#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "agent/ceiling_kernels.h"
#include "kernels/random_value.h"

namespace headsplit::agent {

namespace {

constexpr int kThreads = 512;
constexpr int kBlocksPerSm = 8;
constexpr int kLoadsInFlight = 8;

int streaming_blocks() {
  int device = 0, sm_count = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, device);
  return sm_count * kBlocksPerSm;
}

/// Bound by memory: 16 bytes for 4 XORs.  Every thread keeps eight loads in flight, neighbours read
/// neighbouring 16 bytes.
__global__ void streaming_read(const uint4* data, std::size_t count, std::uint32_t* sink) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  std::uint32_t folded = 0;
  for (; i + (kLoadsInFlight - 1) * stride < count; i += kLoadsInFlight * stride) {
    uint4 loaded[kLoadsInFlight];
#pragma unroll
    for (int load = 0; load < kLoadsInFlight; ++load)
      loaded[load] = __ldcs(data + i + load * stride);
#pragma unroll
    for (const uint4& word : loaded) folded ^= word.x ^ word.y ^ word.z ^ word.w;
  }
  for (; i < count; i += stride) {
    const uint4 word = __ldcs(data + i);
    folded ^= word.x ^ word.y ^ word.z ^ word.w;
  }
  if (folded == 0x9E3779B9u) *sink = folded;
}

template <class Value>
__global__ void fill(Value* values, std::size_t count, std::uint64_t seed) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    values[i] = Value(kernels::random_value(seed, kernels::Tensor::cache, i));
  }
}

}  // namespace

void launch_streaming_read(const void* data, std::size_t bytes, std::uint32_t* sink,
                           cudaStream_t stream) {
  streaming_read<<<streaming_blocks(), kThreads, 0, stream>>>(static_cast<const uint4*>(data),
                                                              bytes / sizeof(uint4), sink);
}

void launch_fill_bf16(void* values, std::size_t count, std::uint64_t seed, cudaStream_t stream) {
  fill<<<streaming_blocks(), kThreads, 0, stream>>>(static_cast<__nv_bfloat16*>(values), count,
                                                    seed);
}

void launch_fill_e4m3(void* values, std::size_t count, std::uint64_t seed, cudaStream_t stream) {
  fill<<<streaming_blocks(), kThreads, 0, stream>>>(static_cast<__nv_fp8_e4m3*>(values), count,
                                                    seed);
}

}  // namespace headsplit::agent
