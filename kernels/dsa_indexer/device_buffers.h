#pragma once

#include <cstdint>

#include "kernels/device/buffer.h"
#include "kernels/problem.h"

namespace headsplit::kernels::indexer {

/// Everything of a bound problem that is in device memory (shapes in arguments.h).
struct Buffers {
  DeviceBuffer<std::uint8_t> query;
  DeviceBuffer<float> weights;
  DeviceBuffer<std::uint8_t> cache;
  DeviceBuffer<std::int32_t> page_table;
  DeviceBuffer<std::int32_t> lengths;
  DeviceBuffer<std::int32_t> ends;
  DeviceBuffer<std::int32_t> first_tile;
  DeviceBuffer<float> scores;
  DeviceBuffer<std::int32_t> chosen;
  DeviceBuffer<std::int32_t> counts;
  std::int64_t score_stride = 0;

  /// Scores become NaN, lists and their lengths slots and numbers that there are not.
  Result<void> poison(cudaStream_t stream) const;
};

/// Allocates (from `pool`, unless null) and makes random inputs; waits for them.
/// Fails: cuda (out of memory).
Result<Buffers> make_buffers(const Problem& problem, cudaStream_t stream, DevicePool* pool);

}  // namespace headsplit::kernels::indexer
