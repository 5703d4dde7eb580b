#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace headsplit::agent {

/// Enqueues a streaming read of the buffer, which leaves it in the L2 cache and nothing dirty.
cudaError_t enqueue_read(const void* data, std::size_t bytes, int sm_count, cudaStream_t stream);

/// Holds a stream: words in host memory that the device sees.
struct HoldFlags {
  volatile std::uint32_t released = 0;
  volatile std::uint32_t timed_out = 0;
};

/// Enqueues a kernel that ends when `released` is set, or after timeout_ns, which it notes.
/// flags: the device's address of them.
cudaError_t enqueue_hold(HoldFlags* flags, std::uint64_t timeout_ns, cudaStream_t stream);

}  // namespace headsplit::agent
