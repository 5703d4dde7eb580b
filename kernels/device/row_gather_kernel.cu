#include "kernels/bf16.h"
#include "kernels/device/row_gather.h"

namespace headsplit::kernels {
namespace {

constexpr int kThreads = 128;

/// A block copies one row.
__global__ void gather_kernel(const DeviceOutputs outputs, const std::int64_t* rows,
                              float* gathered) {
  const std::int64_t row = rows[blockIdx.x];
  float* const target = gathered + std::int64_t{blockIdx.x} * (outputs.width + 1);
  for (int d = threadIdx.x; d < outputs.width; d += kThreads) {
    target[d] = bf16_value(outputs.values[row * outputs.width + d]);
  }
  if (threadIdx.x == 0) target[outputs.width] = outputs.lse[row];
}

}  // namespace

cudaError_t enqueue_gather(const DeviceOutputs& outputs, const std::int64_t* rows,
                           std::int64_t count, float* gathered, cudaStream_t stream) {
  gather_kernel<<<static_cast<unsigned>(count), kThreads, 0, stream>>>(outputs, rows, gathered);
  return cudaGetLastError();
}

}  // namespace headsplit::kernels
