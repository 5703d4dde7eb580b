// Attention of per-head keys and values on Hopper (shapes and types: hopper_arguments.h):
//   s_rj = scale x q_r . k_j,  p_r = softmax(s_r),  out_r = sum_j p_rj v_j
// Instructions: wgmma, cp.async.bulk.tensor, mbarrier.
// Bound: the tensor pipe at the clock that the power cap leaves, for many query tokens; bytes for
// few.

#include "kernels/per_head/hopper_consumer.cuh"
#include "kernels/per_head/hopper_kernel.h"
#include "kernels/per_head/hopper_producer.cuh"

namespace headsplit::kernels::per_head::hopper {
namespace {

/// Widths: a type with the shape as kShape (nvcc cannot name a kernel by a value of a class).
template <class Widths>
__global__ void __launch_bounds__(kThreads, 1)
    attention_kernel(const __grid_constant__ Arguments arguments) {
#if __CUDA_ARCH_FEAT_SM90_ALL
  constexpr Shape kShape = Widths::kShape;
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  const SharedMemory<kShape> memory{ptx::shared_address(shared_bytes)};
  ptx::allow_dependent_launch();  // the combine kernel waits for the end of this one itself
  if (threadIdx.x == 0) {
    memory.init_barriers();
    ptx::fence_barrier_init();
  }
  __syncthreads();
  const int group = __shfl_sync(0xFFFFFFFF, int(threadIdx.x) / kGroupThreads, 0);
  const int warp = __shfl_sync(0xFFFFFFFF, int(threadIdx.x) / 32 % 4, 0);
  const int lane = threadIdx.x % 32;
  if (group == kGroups) {
    ptx::give_registers<kProducerRegisters>();
    if (warp == 0) Producer<kShape>{.arguments = arguments, .memory = memory, .lane = lane}.run();
  } else {
    ptx::take_registers<kConsumerRegisters>();
    Consumer<kShape>{
        .arguments = arguments, .memory = memory, .group = group, .warp = warp, .lane = lane}
        .run();
  }
#endif
}

struct Widths64x64 {
  static constexpr Shape kShape{.d_k = 64, .d_v = 64, .tokens = 128, .stages = 4};
};
struct Widths192x128 {
  static constexpr Shape kShape{.d_k = 192, .d_v = 128, .tokens = 128, .stages = 2};
};
struct Widths128x128 {
  static constexpr Shape kShape{.d_k = 128, .d_v = 128, .tokens = 128, .stages = 2};
};
struct Widths256x256 {
  static constexpr Shape kShape{.d_k = 256, .d_v = 256, .tokens = 64, .stages = 2};
};

template <class Widths>
constexpr Kernel kernel_of() {
  return {.d_k = Widths::kShape.d_k,
          .d_v = Widths::kShape.d_v,
          .rows = kRows,
          .block_rows = kGroupRows,
          .tokens = Widths::kShape.tokens,
          .threads = kThreads,
          .shared_bytes = SharedMemory<Widths::kShape>::kBytes,
          .function = attention_kernel<Widths>};
}

const Kernel kKernels[] = {kernel_of<Widths64x64>(), kernel_of<Widths192x128>(),
                           kernel_of<Widths128x128>(), kernel_of<Widths256x256>()};

}  // namespace

std::span<const Kernel> kernels() { return kKernels; }

}  // namespace headsplit::kernels::per_head::hopper
