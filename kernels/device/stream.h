#pragma once

#include <utility>

#include "kernels/device/cuda_try.h"

namespace headsplit::kernels {

/// A CUDA stream that does not wait for the default stream.  Move-only.
class Stream {
 public:
  static Result<Stream> make() {
    Stream stream;
    CUDA_TRY(cudaStreamCreateWithFlags(&stream.handle_, cudaStreamNonBlocking));
    return stream;
  }
  Stream(Stream&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Stream() {
    if (handle_ != nullptr) CUDA_LOG(cudaStreamDestroy(handle_));
  }

  cudaStream_t get() const { return handle_; }
  /// Fails: cuda (also what any earlier kernel of the stream did wrong).
  Result<void> synchronize() const {
    return cuda_result(cudaStreamSynchronize(handle_), "cudaStreamSynchronize");
  }

 private:
  Stream() = default;
  cudaStream_t handle_ = nullptr;
};

}  // namespace headsplit::kernels
