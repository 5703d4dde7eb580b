#include "bench/hopper_fact_kernels.h"
#include "bench/launch_kernel.h"
#include "kernels/device/ptx.cuh"
#include "kernels/device/wgmma.cuh"
#include "kernels/mla_dense/hopper_shape.h"

/// The kernels of facts about matrix products of warpgroups.
namespace headsplit::bench {
namespace {

namespace ptx = kernels::ptx;
namespace wgmma = kernels::wgmma;
using namespace kernels::dense;

constexpr int kOperandBytes = 96 * 1024;

/// Random bf16 values of about +-1 in shared memory.
[[maybe_unused]] __device__ void fill_operands(unsigned char* bytes, int count = kOperandBytes) {
  auto* const words = reinterpret_cast<std::uint32_t*>(bytes);
  std::uint32_t state = threadIdx.x * 2654435761u + blockIdx.x + 1;
  for (int i = threadIdx.x; i < count / 4; i += blockDim.x) {
    state = state * 1664525u + 1013904223u;
    words[i] = (state & 0x807F807Fu) | 0x3F003F00u;
  }
  ptx::fence_async_proxy();
  __syncthreads();
}

#if __CUDA_ARCH_FEAT_SM90_ALL
/// One warpgroup's products of one kind, `count` of them.
template <Product kProduct>
__device__ float multiply(std::uint32_t base, int count) {
  constexpr int kValues = kProduct == Product::m64n256k16 ? 128 : 16;
  float sums[kValues] = {};
  std::uint32_t rows[4] = {0x3F803F00u, 0x3F00BF80u, 0xBF003F80u, 0x3F203F10u};
  const std::uint64_t a = wgmma::k_major<wgmma::Swizzle::bytes_128>(base);
  const std::uint64_t keys = wgmma::k_major<wgmma::Swizzle::bytes_128>(base + 16384);
  const std::uint64_t values = wgmma::n_major(base + 16384, hopper::kKeySliceBytes);
  for (int i = 0; i < count; i += 4) {
    wgmma::written(sums);
    wgmma::fence();
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      if constexpr (kProduct == Product::m64n256k16) {
        wgmma::m64n256k16(sums, a + step * 2, values + step % 2 * 128, true);
      } else if constexpr (kProduct == Product::m64n32k16_from_shared) {
        wgmma::m64n32k16(sums, a + step * 2, keys + step * 2, true);
      } else {
        wgmma::m64n32k16(sums, rows, keys + step * 2, true);
      }
    }
    wgmma::commit();
    wgmma::wait<1>();
  }
  wgmma::wait<0>();
  wgmma::written(sums);
  float folded = 0;
  for (int i = 0; i < kValues; ++i) folded += sums[i];
  return folded;
}
#endif

template <Product kProduct>
__global__ void __launch_bounds__(128, 1) products(int count, std::uint64_t* cycles) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) unsigned char bytes[];
  fill_operands(bytes);
  const std::uint64_t begin = clock64();
  const float folded = multiply<kProduct>(ptx::shared_address(bytes), count);
  if (threadIdx.x == 0) *cycles = clock64() - begin + (folded == 0.123f ? 1 : 0);
#endif
}

__global__ void __launch_bounds__(hopper::kThreads, 1) tiles(int count, float* sink) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) unsigned char bytes[];
  fill_operands(bytes);
  const std::uint32_t base = ptx::shared_address(bytes);
  float folded = 0;
  if (__shfl_sync(0xFFFFFFFF, int(threadIdx.x) / 128, 0) == 0) {
    ptx::take_registers<hopper::kScoresRegisters>();
    folded = multiply<Product::m64n32k16_from_registers>(base, count * 24) +
             multiply<Product::m64n32k16_from_shared>(base, count * 12);
  } else {
    ptx::give_registers<hopper::kValuesRegisters>();
    folded = multiply<Product::m64n256k16>(base + 32768, count * 2);
  }
  if (folded == 0.123f) *sink = folded;
#endif
}

/// d[64, 16 or 32] += a x b, both in shared memory; kAcross: the rows of a lie along the
/// contraction (values, whose dimensions become the rows of the product).
#if __CUDA_ARCH_FEAT_SM90_ALL
template <bool kAcross>
__device__ __forceinline__ void multiply_few(float (&d)[8], std::uint64_t a, std::uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7}, "
      "%8, %9, 1, 1, 1, %10, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7])
      : "l"(a), "l"(b), "n"(int(kAcross)));
}
template <bool kAcross>
__device__ __forceinline__ void multiply_few(float (&d)[16], std::uint64_t a, std::uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, "
      "%9, %10, %11, %12, %13, %14, %15}, %16, %17, 1, 1, 1, %18, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15])
      : "l"(a), "l"(b), "n"(int(kAcross)));
}

/// Scores of 64 tokens, then weights x values, of one warpgroup's own tile.
template <int kRows>
__device__ __forceinline__ void multiply_swapped_tile(float (&scores)[kRows / 2],
                                                      float (&output)[8][kRows / 2],
                                                      std::uint32_t tile, std::uint32_t queries) {
  const std::uint64_t keys = wgmma::k_major<wgmma::Swizzle::bytes_128>(tile);
  const std::uint64_t rows = wgmma::k_major<wgmma::Swizzle::bytes_128>(queries);
  wgmma::fence();
#pragma unroll
  for (int step = 0; step < 36; ++step) {
    const int in_row = step % 4 * 2;
    multiply_few<false>(scores, keys + step / 4 * (8192 / 16) + in_row,
                        rows + step / 4 * (kRows * 128 / 16) + in_row);
  }
#pragma unroll
  for (int slice = 0; slice < 8; ++slice) {
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      const std::uint64_t values = wgmma::n_major(tile + slice * 8192 + step * 2048, 8192);
      multiply_few<true>(output[slice], values, rows + step * 2);
    }
  }
  wgmma::commit();
}
#endif

constexpr int kSwappedTileBytes = 64 * 1152;
constexpr int kSwappedQueryBytes = 9 * 32 * 128;
constexpr int kSwappedGroupsMax = 2;
constexpr int kSwappedBytes = kSwappedGroupsMax * kSwappedTileBytes + kSwappedQueryBytes;

template <int kRows>
__global__ void __launch_bounds__(kSwappedGroupsMax * 128, 1)
    swapped_tiles(int count, std::uint64_t* cycles) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) unsigned char bytes[];
  fill_operands(bytes, kSwappedBytes);
  const std::uint32_t base = ptx::shared_address(bytes);
  const int group = __shfl_sync(0xFFFFFFFF, int(threadIdx.x) / 128, 0);
  float scores[kRows / 2] = {};
  float output[8][kRows / 2] = {};
  const std::uint64_t begin = clock64();
  for (int i = 0; i < count; ++i) {
    multiply_swapped_tile<kRows>(scores, output, base + group * kSwappedTileBytes,
                                 base + kSwappedGroupsMax * kSwappedTileBytes);
    wgmma::wait<0>();
  }
  float folded = 0;
  for (int i = 0; i < kRows / 2; ++i) {
    folded += scores[i];
    for (int slice = 0; slice < 8; ++slice) folded += output[slice][i];
  }
  __syncthreads();
  if (threadIdx.x == 0) *cycles = clock64() - begin + (folded == 0.123f ? 1 : 0);
#endif
}

}  // namespace

cudaError_t time_products(Product product, int count, std::uint64_t* cycles, cudaStream_t stream) {
  auto* kernel = products<Product::m64n256k16>;
  if (product == Product::m64n32k16_from_registers) {
    kernel = products<Product::m64n32k16_from_registers>;
  }
  if (product == Product::m64n32k16_from_shared) kernel = products<Product::m64n32k16_from_shared>;
  return launch(kernel, 1, 128, kOperandBytes, stream, false, count, cycles);
}

cudaError_t multiply_tiles(int count, int ctas, float* sink, cudaStream_t stream) {
  return launch(tiles, ctas, hopper::kThreads, kOperandBytes, stream, false, count, sink);
}

cudaError_t time_swapped_tiles(FewRows rows, int groups, int count, std::uint64_t* cycles,
                               cudaStream_t stream) {
  auto* const kernel = rows == FewRows::rows_16 ? swapped_tiles<16> : swapped_tiles<32>;
  return launch(kernel, 1, groups * 128, kSwappedBytes, stream, false, count, cycles);
}

}  // namespace headsplit::bench
