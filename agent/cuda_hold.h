#pragma once

#include <utility>

#include "agent/cuda_kernels.h"
#include "kernels/device/cuda_try.h"

namespace headsplit::agent {

/// Holds a stream while work is enqueued, so that the GPU finds all of it and the host's pace is
/// not measured.  Move-only.
/// Source: the blocking kernel of NVIDIA/nvbench (its idea, not its code).
class StreamHold {
 public:
  /// A stream that is held longer goes on by itself: nothing can wait for ever.
  static constexpr std::uint64_t kTimeoutNs = 2'000'000'000;

  static Result<StreamHold> make() {
    StreamHold hold;
    void* host = nullptr;
    CUDA_TRY(cudaHostAlloc(&host, sizeof(HoldFlags), cudaHostAllocMapped));
    hold.host_ = new (host) HoldFlags;
    void* device = nullptr;
    CUDA_TRY(cudaHostGetDevicePointer(&device, host, 0));
    hold.device_ = static_cast<HoldFlags*>(device);
    return hold;
  }
  StreamHold(StreamHold&& other) noexcept
      : host_(std::exchange(other.host_, nullptr)), device_(other.device_) {}
  StreamHold& operator=(StreamHold&& other) noexcept {
    std::swap(host_, other.host_);
    std::swap(device_, other.device_);
    return *this;
  }
  ~StreamHold() {
    if (host_ != nullptr) CUDA_LOG(cudaFreeHost(host_));
  }

  /// What is enqueued from here on waits.  The stream must be idle.
  Result<void> hold(cudaStream_t stream) {
    host_->released = 0;
    host_->timed_out = 0;
    return kernels::cuda_result(enqueue_hold(device_, kTimeoutNs, stream), "hold kernel");
  }
  void release() { host_->released = 1; }
  /// Whether the stream went on before its release; known once it is idle.
  bool timed_out() const { return host_->timed_out != 0; }

 private:
  StreamHold() = default;
  HoldFlags* host_ = nullptr;
  HoldFlags* device_ = nullptr;
};

}  // namespace headsplit::agent
