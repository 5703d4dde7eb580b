#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "kernels/device/pool.h"

namespace headsplit::kernels {

/// Device memory for `count` values of T, freed with the object or given back to its pool.
/// Move-only; not initialised.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// pool: where the memory comes from; null = allocated for itself.
  /// Fails: cuda (out of memory: says how much was asked for).
  static Result<DeviceBuffer> make(std::int64_t count, DevicePool* pool = nullptr) {
    DeviceBuffer buffer;
    buffer.pool_ = pool;
    if (count > 0) {
      const auto bytes = static_cast<std::size_t>(count) * sizeof(T);
      auto block = allocated(bytes, pool);
      if (!block) return within_context(str(bytes, " bytes"), block.error());
      buffer.block_ = *block;
    }
    buffer.count_ = count;
    return buffer;
  }
  /// The same, with the values of `host`, once `stream` has come there.
  static Result<DeviceBuffer> copy_of(std::span<const T> host, cudaStream_t stream,
                                      DevicePool* pool = nullptr) {
    DeviceBuffer buffer = TRY(make(static_cast<std::int64_t>(host.size()), pool));
    CUDA_TRY(cudaMemcpyAsync(buffer.data(), host.data(), host.size_bytes(), cudaMemcpyHostToDevice,
                             stream));
    return buffer;
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)),
        block_(std::exchange(other.block_, {})),
        count_(std::exchange(other.count_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(block_, other.block_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~DeviceBuffer() {
    if (block_.memory == nullptr) return;
    if (pool_ != nullptr) {
      pool_->give_back(block_);
    } else {
      CUDA_LOG(cudaFree(block_.memory));
    }
  }

  T* data() const { return static_cast<T*>(block_.memory); }
  std::int64_t count() const { return count_; }
  std::size_t bytes() const { return static_cast<std::size_t>(count_) * sizeof(T); }

 private:
  static Result<DevicePool::Block> allocated(std::size_t bytes, DevicePool* pool) {
    if (pool != nullptr) return pool->take(bytes);
    DevicePool::Block block{.bytes = bytes};
    CUDA_TRY(cudaMalloc(&block.memory, bytes));
    return block;
  }

  DevicePool* pool_ = nullptr;
  DevicePool::Block block_;
  std::int64_t count_ = 0;
};

/// Enqueues NaN in every value.
template <class Value>
Result<void> make_nan(const DeviceBuffer<Value>& buffer, cudaStream_t stream) {
  if (buffer.count() == 0) return {};
  // All bits set is a NaN, of bf16 too.
  return cuda_result(cudaMemsetAsync(buffer.data(), 0xFF, buffer.bytes(), stream),
                     "cudaMemsetAsync");
}

}  // namespace headsplit::kernels
