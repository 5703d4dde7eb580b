#include "tests/agent/counters_gpu_kernels.h"

namespace headsplit::agent {

namespace {

constexpr int kTileM = 16;
constexpr int kTileN = 8;
constexpr int kTileK = 16;
constexpr int kWarp = 32;

/// Fragment layout: PTX ISA, "Matrix fragments for mma.m16n8k16 with floating point type".
__global__ void exact_matmul(const std::uint32_t* a, const std::uint32_t* b, float* c, int n,
                             int k) {
  const int row = blockIdx.y * kTileM + threadIdx.x / 4;
  const int b_row = blockIdx.x * kTileN + threadIdx.x / 4;
  const int pair = threadIdx.x % 4;  // two bf16 values a 32-bit word
  const int words = k / 2;           // a row
  float sums[4] = {};
  for (int step = 0; step < k / kTileK; ++step) {
    const int column = step * kTileK / 2 + pair;
    const std::uint32_t a0 = a[row * words + column];
    const std::uint32_t a1 = a[(row + 8) * words + column];
    const std::uint32_t a2 = a[row * words + column + 4];
    const std::uint32_t a3 = a[(row + 8) * words + column + 4];
    const std::uint32_t b0 = b[b_row * words + column];
    const std::uint32_t b1 = b[b_row * words + column + 4];
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
  float* out = c + row * n + blockIdx.x * kTileN + pair * 2;
  out[0] = sums[0];
  out[1] = sums[1];
  out[8 * n] = sums[2];
  out[8 * n + 1] = sums[3];
}

__global__ void streaming_write(uint4* data, std::size_t count, std::uint32_t value) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    data[i] = make_uint4(value, value + 1, value + 2, static_cast<std::uint32_t>(i));
  }
}

}  // namespace

void launch_exact_matmul(const void* a, const void* b, float* c, int m, int n, int k,
                         cudaStream_t stream) {
  exact_matmul<<<dim3(n / kTileN, m / kTileM), kWarp, 0, stream>>>(
      static_cast<const std::uint32_t*>(a), static_cast<const std::uint32_t*>(b), c, n, k);
}

void launch_streaming_write(void* data, std::size_t bytes, std::uint32_t value,
                            cudaStream_t stream) {
  streaming_write<<<1056, 512, 0, stream>>>(static_cast<uint4*>(data), bytes / sizeof(uint4),
                                            value);
}

}  // namespace headsplit::agent
