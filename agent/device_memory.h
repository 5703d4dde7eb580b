#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "kernels/device/cuda_try.h"

namespace headsplit::agent {

struct FreeDevice {
  void operator()(void* memory) const { CUDA_LOG(cudaFree(memory)); }
};
/// Plain device memory (never managed), freed with its owner.
using DeviceMemory = std::unique_ptr<void, FreeDevice>;

/// Fails: cuda (out of memory).
inline Result<DeviceMemory> device_memory(std::size_t bytes) {
  void* memory = nullptr;
  CUDA_TRY(cudaMalloc(&memory, bytes));
  return DeviceMemory(memory);
}

struct DestroyEvent {
  void operator()(cudaEvent_t event) const { CUDA_LOG(cudaEventDestroy(event)); }
};
using Event = std::unique_ptr<CUevent_st, DestroyEvent>;

/// Fails: cuda.
inline Result<Event> cuda_event() {
  cudaEvent_t event = nullptr;
  CUDA_TRY(cudaEventCreate(&event));
  return Event(event);
}

struct DestroyStream {
  void operator()(cudaStream_t stream) const { CUDA_LOG(cudaStreamDestroy(stream)); }
};
using Stream = std::unique_ptr<CUstream_st, DestroyStream>;

/// A stream that does not wait for the default one.  Fails: cuda.
inline Result<Stream> cuda_stream() {
  cudaStream_t stream = nullptr;
  CUDA_TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Stream(stream);
}

}  // namespace headsplit::agent
