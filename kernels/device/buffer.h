#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "kernels/device/cuda_try.h"

namespace headsplit::kernels {

/// Device memory for `count` values of T, freed with the object.  Move-only; not initialised.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// Fails: cuda (out of memory: says how much was asked for).
  static Result<DeviceBuffer> make(std::int64_t count) {
    DeviceBuffer buffer;
    const auto bytes = static_cast<std::size_t>(count) * sizeof(T);
    void* pointer = nullptr;
    if (count > 0) {
      const auto made = cuda_result(cudaMalloc(&pointer, bytes), "cudaMalloc");
      if (!made) return within_context(str(bytes, " bytes"), made.error());
    }
    buffer.data_ = static_cast<T*>(pointer);
    buffer.count_ = count;
    return buffer;
  }
  /// The same, with the values of `host`, once `stream` has come there.
  static Result<DeviceBuffer> copy_of(std::span<const T> host, cudaStream_t stream) {
    DeviceBuffer buffer = TRY(make(static_cast<std::int64_t>(host.size())));
    CUDA_TRY(cudaMemcpyAsync(buffer.data_, host.data(), host.size_bytes(), cudaMemcpyHostToDevice,
                             stream));
    return buffer;
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~DeviceBuffer() {
    if (data_ != nullptr) CUDA_LOG(cudaFree(data_));
  }

  T* data() const { return data_; }
  std::int64_t count() const { return count_; }
  std::size_t bytes() const { return static_cast<std::size_t>(count_) * sizeof(T); }

 private:
  T* data_ = nullptr;
  std::int64_t count_ = 0;
};

}  // namespace headsplit::kernels
