#pragma once

#include <cstdint>

#include "kernels/device/buffer.h"
#include "kernels/device/tensor_map.h"
#include "kernels/split/split_plan.h"

namespace headsplit::kernels::dense {

using split::MergeItem;
using split::SplitPlan;
using split::WorkItem;

/// Everything of a bound problem that is in device memory (shapes in split_arguments.h).
struct Buffers {
  DeviceBuffer<std::uint16_t> query;
  DeviceBuffer<std::uint16_t> cache;
  DeviceBuffer<std::int32_t> page_table;
  DeviceBuffer<std::int32_t> ends;
  DeviceBuffer<WorkItem> items;
  DeviceBuffer<std::int32_t> item_begin;
  DeviceBuffer<MergeItem> merges;
  DeviceBuffer<std::uint16_t> output;
  DeviceBuffer<float> lse;
  DeviceBuffer<float> partial_output;
  DeviceBuffer<float> partial_lse;
  DeviceBuffer<float> sinks;
  DeviceBuffer<float> scratch;
  DeviceBuffer<CUtensorMap> cache_map;  ///< of fp8_tensor, else empty
  std::uint64_t first_to_go = 0;        ///< L2 policies
  std::uint64_t as_usual = 0;

  /// Outputs and partials become NaN.
  Result<void> poison(cudaStream_t stream) const;
};

/// Allocates (from `pool`, unless null) and makes random inputs; waits for them.
/// Fails: cuda (out of memory).
/// inputs: what queries and cache are made from; `problem` is it or a view of it.
Result<Buffers> make_buffers(const Problem& problem, const Problem& inputs, const SplitPlan& plan,
                             cudaStream_t stream, DevicePool* pool);

}  // namespace headsplit::kernels::dense
