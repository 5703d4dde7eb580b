#pragma once

#include <cuda_runtime_api.h>

#include <span>
#include <vector>

#include "core/result.h"
#include "kernels/device/pool.h"
#include "kernels/kernel.h"

namespace headsplit::kernels {

/// Outputs of a launch in device memory.
struct DeviceOutputs {
  const std::uint16_t* values = nullptr;  ///< [rows, width] bf16
  const float* lse = nullptr;             ///< [rows] fp32
  std::int64_t rows = 0;
  int width = 0;
};

/// Some of the rows, in the order asked for, in one copy; waits for the stream.  pool: or null.
/// Fails: config (no such row), cuda.
Result<std::vector<OutputRow>> read_rows(const DeviceOutputs& outputs,
                                         std::span<const std::int64_t> rows, cudaStream_t stream,
                                         DevicePool* pool);

/// Enqueues the gathering.  gathered: [count, width + 1], the LSE last.
cudaError_t enqueue_gather(const DeviceOutputs& outputs, const std::int64_t* rows,
                           std::int64_t count, float* gathered, cudaStream_t stream);

}  // namespace headsplit::kernels
