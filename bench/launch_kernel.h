#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace headsplit::bench {

/// Enqueues a kernel; `overlapped`: it may begin before the one ahead of it has ended.
template <class Kernel, class... Arguments>
cudaError_t launch(Kernel kernel, int ctas, int threads, int shared_bytes, cudaStream_t stream,
                   bool overlapped, Arguments... arguments) {
  const cudaError_t set =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (set != cudaSuccess) return set;
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(ctas));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(shared_bytes);
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = overlapped ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

}  // namespace headsplit::bench
