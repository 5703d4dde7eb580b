#include "agent/cuda_kernels.h"

namespace headsplit::agent {
namespace {

constexpr int kReadThreads = 1024;
constexpr int kReadCtasASm = 2;
/// What no 16 bytes of the buffer add up to: it is filled with one byte value.
constexpr unsigned kNeverSeen = 0x9E3779B9;

__global__ void read_kernel(const uint4* data, std::size_t count, unsigned* sink) {
  unsigned mixed = 0;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    const uint4 value = data[i];
    mixed |= value.x ^ value.y ^ value.z ^ value.w;
  }
  if (mixed == kNeverSeen) *sink = mixed;  // keeps the reads
}

__device__ std::uint64_t now_ns() {
  std::uint64_t time = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

__global__ void hold_kernel(HoldFlags* flags, std::uint64_t timeout_ns) {
  const std::uint64_t start = now_ns();
  while (flags->released == 0) {
    if (now_ns() - start > timeout_ns) {
      flags->timed_out = 1;
      return;
    }
  }
}

}  // namespace

cudaError_t enqueue_read(const void* data, std::size_t bytes, int sm_count, cudaStream_t stream) {
  read_kernel<<<static_cast<unsigned>(kReadCtasASm * sm_count), kReadThreads, 0, stream>>>(
      static_cast<const uint4*>(data), bytes / sizeof(uint4),
      static_cast<unsigned*>(const_cast<void*>(data)));
  return cudaGetLastError();
}

cudaError_t enqueue_hold(HoldFlags* flags, std::uint64_t timeout_ns, cudaStream_t stream) {
  hold_kernel<<<1, 1, 0, stream>>>(flags, timeout_ns);
  return cudaGetLastError();
}

}  // namespace headsplit::agent
