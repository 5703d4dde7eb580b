#include "bench/hopper_fact_kernels.h"

#include <utility>

#include "bench/launch_kernel.h"
#include "kernels/device/ptx.cuh"
#include "kernels/mla_dense/hopper_shape.h"
#include "kernels/mla_dense/portable_memory.cuh"

namespace headsplit::bench {
namespace {

namespace ptx = kernels::ptx;
using namespace kernels::dense;
using kernels::RingPosition;
using kernels::wait;

constexpr int kPages = 3;  ///< of shared memory
constexpr int kReadBytes = kPages * kPageBytes + 64;
constexpr int kCopyThreads = 128;

__global__ void __launch_bounds__(kCopyThreads, 1) read_cp_async(PagedRead read) {
  extern __shared__ __align__(1024) unsigned char bytes[];
  const std::uint32_t base = ptx::shared_address(bytes);
  const auto landed = [&](int stage) { return base + kPages * kPageBytes + stage * 8; };
  if (threadIdx.x == 0) {
    for (int i = 0; i < kPages; ++i) ptx::mbarrier_init(landed(i), kCopyThreads);
  }
  __syncthreads();
  const std::int32_t* order = read.order + blockIdx.x * read.pages_a_cta;
  RingPosition filled{};
  RingPosition used{};
  for (int page = 0; page < read.pages_a_cta + kPages - 1; ++page) {
    if (page < read.pages_a_cta) {
      const std::uint64_t source = reinterpret_cast<std::uint64_t>(read.pages) +
                                   std::uint64_t(order[page]) * kPageBytes + threadIdx.x * 16;
      const std::uint32_t target = base + filled.stage * kPageBytes + threadIdx.x * 16;
#pragma unroll 12
      for (int i = 0; i < kPageBytes; i += kCopyThreads * 16) {
        ptx::cp_async_16(target + i, source + i);
      }
      ptx::cp_async_mbarrier_arrive(landed(filled.stage));
      filled.advance(kPages);
    }
    if (page >= kPages - 1) {
      wait(landed(used.stage), used.parity);
      used.advance(kPages);
      __syncthreads();
    }
  }
  if (threadIdx.x == 0) read.sink[blockIdx.x] = ptx::load_shared(base);
}

__global__ void __launch_bounds__(32, 1) read_bulk(PagedRead read) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) unsigned char bytes[];
  if (threadIdx.x > 0) return;
  const std::uint32_t base = ptx::shared_address(bytes);
  const auto landed = [&](int stage) { return base + kPages * kPageBytes + stage * 8; };
  for (int i = 0; i < kPages; ++i) ptx::mbarrier_init(landed(i), 1);
  ptx::fence_async_proxy();
  const std::int32_t* order = read.order + blockIdx.x * read.pages_a_cta;
  const auto start = [&](int page) {
    const std::uint32_t barrier = landed(page % kPages);
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(kPageBytes)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(base + page % kPages * kPageBytes),
        "l"(read.pages + std::uint64_t(order[page]) * kPageBytes), "r"(kPageBytes), "r"(barrier)
        : "memory");
  };
  for (int page = 0; page < min(kPages, read.pages_a_cta); ++page) start(page);
  RingPosition used{};
  for (int page = 0; page < read.pages_a_cta; ++page) {
    wait(landed(used.stage), used.parity);
    used.advance(kPages);
    if (page + kPages < read.pages_a_cta) start(page + kPages);
  }
  read.sink[blockIdx.x] = ptx::load_shared(base);
#endif
}

/// Two warps take turns.
template <HandOver kBy>
__global__ void __launch_bounds__(64, 1) hand_overs(int count, std::uint64_t* cycles) {
  __shared__ std::uint64_t turns[2];
  const int warp = threadIdx.x / 32;
  const std::uint32_t mine = ptx::shared_address(turns + warp);
  const std::uint32_t other = ptx::shared_address(turns + 1 - warp);
  if (threadIdx.x % 32 == 0) ptx::mbarrier_init(mine, 32);
  __syncthreads();
  const std::uint64_t begin = clock64();
  for (int i = 0; i < count / 2; ++i) {
    if constexpr (kBy == HandOver::mbarrier) {
      if (warp == 0) ptx::mbarrier_arrive(other);
      wait(mine, i % 2);
      if (warp == 1) ptx::mbarrier_arrive(other);
    } else {
      ptx::barrier_sync(1, 64);
      ptx::barrier_sync(2, 64);
    }
  }
  if (threadIdx.x == 0) *cycles = clock64() - begin;
}

constexpr int kInstructions = kCodeBytes / 16;

/// kInstructions multiply-adds with different constants, in four chains.
template <int... kIndices>
__device__ __forceinline__ void add_up(std::uint32_t (&x)[4],
                                       std::integer_sequence<int, kIndices...>) {
  ((x[kIndices % 4] = x[kIndices % 4] * (2 * kIndices + 3u) + x[(kIndices + 1) % 4]), ...);
}

__global__ void __launch_bounds__(32, 1) code(std::uint64_t* cycles, std::uint32_t* sink) {
  std::uint32_t x[4] = {threadIdx.x, 1, 2, 3};
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {
    const std::uint64_t begin = clock64();
    x[0] = ptx::opaque(x[0]);
    add_up(x, std::make_integer_sequence<int, kInstructions>{});
    x[0] = ptx::opaque(x[0] + x[1] + x[2] + x[3]);
    if (threadIdx.x == 0) cycles[blockIdx.x * 2 + pass] = clock64() - begin;
  }
  if (x[0] == 0x12345) *sink = x[0];
}

__global__ void __launch_bounds__(hopper::kThreads, 1) nothing() { ptx::allow_dependent_launch(); }
__global__ void __launch_bounds__(128) nothing_behind() { ptx::wait_for_previous_kernel(); }

}  // namespace

cudaError_t read_by_cp_async(const PagedRead& read, cudaStream_t stream) {
  return launch(read_cp_async, read.ctas, kCopyThreads, kReadBytes, stream, false, read);
}

cudaError_t read_by_bulk_copies(const PagedRead& read, cudaStream_t stream) {
  return launch(read_bulk, read.ctas, 32, kReadBytes, stream, false, read);
}

cudaError_t time_hand_overs(HandOver by, int count, std::uint64_t* cycles, cudaStream_t stream) {
  auto* const kernel = by == HandOver::mbarrier ? hand_overs<HandOver::mbarrier>
                                                : hand_overs<HandOver::named_barrier>;
  return launch(kernel, 1, 64, 0, stream, false, count, cycles);
}

cudaError_t time_code(int ctas, std::uint64_t* cycles, std::uint32_t* sink, cudaStream_t stream) {
  return launch(code, ctas, 32, 0, stream, false, cycles, sink);
}

cudaError_t launch_nothing(Launches launches, int ctas, cudaStream_t stream) {
  const cudaError_t first =
      launch(nothing, ctas, hopper::kThreads, hopper::SharedMemory::kBytes, stream, false);
  if (first != cudaSuccess || launches == Launches::one) return first;
  return launch(nothing_behind, 4 * ctas, 128, 0, stream, launches == Launches::two_overlapped);
}

}  // namespace headsplit::bench
