#pragma once

#include "kernels/mla_dense/fp8_wide_scores.cuh"
#include "kernels/mla_dense/fp8_wide_values.cuh"
#include "kernels/mla_dense/split_kernel.h"

/// A CTA of the FP8 kernel for many packed rows.
namespace headsplit::kernels::dense::wide {

/// Rows: how rows of the cache come into a stage (PagedRows says what it has).
template <class Rows, int kRows>
__device__ __forceinline__ void run(const typename Rows::Arguments& arguments) {
  using Items = split::CtaItems<typename Rows::Arguments>;
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  const SharedMemory<kRows, typename Rows::Row> memory{ptx::shared_address(shared_bytes)};
  ptx::allow_dependent_launch();  // the combine kernel waits for the end of this one itself
  if (threadIdx.x == 0) {
    if constexpr (Rows::Row::kOneScale) ptx::prefetch_tensor_map(arguments.cache_map);
    memory.init_barriers(Rows::kArrivals);
  }
  __syncthreads();
  const int group = __shfl_sync(0xFFFFFFFF, int(threadIdx.x) / kGroupThreads, 0);
  const int warp = __shfl_sync(0xFFFFFFFF, int(threadIdx.x) / 32 % kGroupWarps, 0);
  const int lane = threadIdx.x % 32;
  if (group == 0) {
    ptx::take_registers<kScoresRegisters>();
    ScoresGroup<Rows, kRows>{.arguments = arguments,
                             .memory = memory,
                             .items = Items::of_this_cta(arguments),
                             .warp = warp,
                             .lane = lane}
        .run();
  } else if (group <= kValuesGroups) {
    ptx::take_registers<kValuesRegisters>();
    ValuesGroup<Rows, kRows>{.arguments = arguments,
                             .memory = memory,
                             .items = Items::of_this_cta(arguments),
                             .half_of_dims = group - 1,
                             .warp = warp,
                             .lane = lane}
        .run();
  } else {
    ptx::give_registers<kLoaderRegisters>();
    if (warp < Rows::kWarps) {
      Loader<Rows, kRows>{memory, Items::of_this_cta(arguments), {arguments, warp, lane}}.run();
    }
  }
}

/// What a kernel costs, in microseconds: SplitKernel says of what.
struct WideCosts {
  double step_us;
  double item_us;
  double start_us;
};

/// A kernel of such CTAs, however its rows come.
template <int kRows, class Row = Row656>
constexpr SplitKernel split_kernel_of(std::string_view name, const WideCosts& costs,
                                      void (*function)(SplitArguments)) {
  using Memory = SharedMemory<kRows, Row>;
  return {.name = name,
          .rows = kRows,
          .block_rows = kRows,
          .tokens = kTokens,
          .threads = kThreads,
          .fixed_bytes = Memory::kBytes - Memory::kStages * Memory::kStageBytes,
          .stage_bytes = Memory::kStageBytes,
          .stages_min = Memory::kStages,
          .stages_max = Memory::kStages,
          .step_us = costs.step_us,
          .item_us = costs.item_us,
          .start_us = costs.start_us,
          .hopper = true,
          .compute_major_min = 9,
          .function = function};
}

}  // namespace headsplit::kernels::dense::wide
