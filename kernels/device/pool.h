#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>

#include "kernels/device/cuda_try.h"
#include "kernels/device/freed_memory.h"

namespace headsplit::kernels {

/// Plain device memory that is kept for the next buffer of about the same size: cudaMalloc and
/// cudaFree take milliseconds, and cudaFree waits for the device.  All users must be on one stream.
/// Must outlive its buffers.
class DevicePool {
 public:
  struct Block {
    void* memory = nullptr;
    std::size_t bytes = 0;  ///< at least what was asked for
  };

  DevicePool() = default;
  DevicePool(const DevicePool&) = delete;
  DevicePool& operator=(const DevicePool&) = delete;
  ~DevicePool() { release(); }

  /// Memory with what its last user left in it.  Gives up all that is kept before it fails.
  /// Fails: cuda (out of memory).
  Result<Block> take(std::size_t bytes) {
    const auto kept = kept_.lower_bound(bytes);
    if (kept != kept_.end() && kept->first <= bytes + bytes / 4 + kSlackBytes) {
      const Block block{kept->second, kept->first};
      kept_bytes_ -= block.bytes;
      kept_.erase(kept);
      return block;
    }
    Block block{.bytes = bytes};
    if (cudaMalloc(&block.memory, bytes) == cudaSuccess) return block;
    cudaGetLastError();
    release();
    CUDA_TRY(cudaMalloc(&block.memory, bytes));
    return block;
  }

  void give_back(const Block& block) {
    if (kept_bytes_ + block.bytes > kKeptBytesMax) {
      free(block.memory, block.bytes);
      return;
    }
    kept_bytes_ += block.bytes;
    kept_.emplace(block.bytes, block.memory);
  }

  /// Frees what is kept.
  void release() {
    for (const auto& [bytes, memory] : kept_) free(memory, bytes);
    kept_.clear();
    kept_bytes_ = 0;
  }

  /// What was freed, and the driver may still be clearing.
  const FreedMemory& freed() const { return freed_; }

 private:
  void free(void* memory, std::size_t bytes) {
    freed_.add(bytes, FreedMemory::Clock::now());
    CUDA_LOG(cudaFree(memory));
  }

  static constexpr std::size_t kSlackBytes = std::size_t{1} << 16;
  static constexpr std::size_t kKeptBytesMax = std::size_t{24} << 30;

  std::multimap<std::size_t, void*> kept_;
  std::size_t kept_bytes_ = 0;
  FreedMemory freed_;
};

}  // namespace headsplit::kernels
