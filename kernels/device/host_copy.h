#pragma once

#include <cstddef>

#include "kernels/device/cuda_try.h"

namespace headsplit::kernels {

/// Copies to the device and returns when all of it is there, for every stream.  cudaMemcpy alone
/// returns from pageable memory with the end still on its way, and our streams wait for no other.
/// Fails: cuda.
inline Result<void> copy_from_host(void* device, const void* host, std::size_t bytes) {
  CUDA_TRY(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
  CUDA_TRY(cudaStreamSynchronize(cudaStreamLegacy));
  return {};
}

}  // namespace headsplit::kernels
