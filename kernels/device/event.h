#pragma once

#include <utility>

#include "kernels/device/cuda_try.h"

namespace headsplit::kernels {

/// A moment of a stream, with a time.  Move-only.
class Event {
 public:
  static Result<Event> make() {
    Event event;
    CUDA_TRY(cudaEventCreate(&event.handle_));
    return event;
  }
  Event(Event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Event() {
    if (handle_ != nullptr) CUDA_LOG(cudaEventDestroy(handle_));
  }

  cudaEvent_t get() const { return handle_; }
  Result<void> record(cudaStream_t stream) {
    return cuda_result(cudaEventRecord(handle_, stream), "cudaEventRecord");
  }
  /// Microseconds from `start` to this moment; both must have passed.
  Result<double> since_us(const Event& start) const {
    float ms = 0;
    CUDA_TRY(cudaEventElapsedTime(&ms, start.handle_, handle_));
    return 1e3 * double{ms};
  }

 private:
  Event() = default;
  cudaEvent_t handle_ = nullptr;
};

}  // namespace headsplit::kernels
