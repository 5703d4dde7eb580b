#pragma once

#include "kernels/mla_dense/hopper_scores.cuh"
#include "kernels/mla_dense/hopper_values.cuh"
#include "kernels/mla_dense/split_kernel.h"

/// A CTA of the Hopper kernel, and the row of a table of kernels.
namespace headsplit::kernels::dense::hopper {

template <bool kGather>
__device__ __forceinline__ void run(const SplitArguments& arguments) {
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  const SharedMemory memory{ptx::shared_address(shared_bytes)};
  ptx::allow_dependent_launch();  // the combine kernel waits for the end of this one itself
  if (threadIdx.x == 0) memory.init_barriers();
  __syncthreads();
  const int group = __shfl_sync(0xFFFFFFFF, int(threadIdx.x) / kGroupThreads, 0);
  const int warp = __shfl_sync(0xFFFFFFFF, int(threadIdx.x) / 32 % 4, 0);
  const int lane = threadIdx.x % 32;
  const CtaItems items = CtaItems::of_this_cta(arguments);
  if (group == 0) {
    ptx::take_registers<kScoresRegisters>();
    ScoresGroup<kGather>{
        .arguments = arguments, .memory = memory, .items = items, .warp = warp, .lane = lane}
        .run();
  } else {
    ptx::give_registers<kValuesRegisters>();
    ValuesGroup<kGather>{.arguments = arguments,
                         .memory = memory,
                         .half_of_dims = group - 1,
                         .warp = warp,
                         .lane = lane,
                         .loader = {arguments, memory, group - 1, warp, lane, items}}
        .run();
  }
}

constexpr SplitKernel split_kernel_of(std::string_view name, void (*function)(SplitArguments)) {
  return {
      .name = name,
      .rows = kRows,
      .block_rows = kRows,
      .tokens = kTokens,
      .threads = kThreads,
      .fixed_bytes = SharedMemory::kBytes - kStages * kTile.stage_bytes(),
      .stage_bytes = kTile.stage_bytes(),
      .stages_min = kStages,
      .stages_max = kStages,
      .step_us = 0.87,
      .item_us = 2.5,
      .start_us = 2.7,
      .hopper = true,
      .function = function,
  };
}

}  // namespace headsplit::kernels::dense::hopper
