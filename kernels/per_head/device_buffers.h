#pragma once

#include <cstdint>

#include "kernels/device/buffer.h"
#include "kernels/per_head/hopper_arguments.h"
#include "kernels/split/split_plan.h"

namespace headsplit::kernels::per_head {

/// Everything of a bound problem that is in device memory (shapes in split_arguments.h).
struct Buffers {
  DeviceBuffer<std::uint16_t> query;
  DeviceBuffer<std::uint16_t> key;
  DeviceBuffer<std::uint16_t> value;
  DeviceBuffer<std::int32_t> page_table;
  DeviceBuffer<std::int32_t> ends;
  DeviceBuffer<split::WorkItem> items;
  DeviceBuffer<hopper::WorkItem> hopper_items;  ///< the same, as that kernel has them
  DeviceBuffer<std::int32_t> item_begin;
  DeviceBuffer<split::MergeItem> merges;
  DeviceBuffer<std::uint16_t> output;
  DeviceBuffer<float> lse;
  DeviceBuffer<float> partial_output;
  DeviceBuffer<float> partial_lse;

  /// Outputs and partials become NaN.
  Result<void> poison(cudaStream_t stream) const;
};

/// Allocates (from `pool`, unless null) and makes random inputs; waits for them.  own_cache: keys
/// and values, too. Fails: cuda (out of memory).
Result<Buffers> make_buffers(const Problem& problem, const split::SplitPlan& plan, bool own_cache,
                             cudaStream_t stream, DevicePool* pool);

}  // namespace headsplit::kernels::per_head
