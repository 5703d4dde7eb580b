#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace headsplit::agent {

/// Kernels that ceilings are measured with.  Each enqueues on `stream` and does not wait; launch
/// errors are left in cudaGetLastError().

/// Read `bytes` once, 16 bytes a load, past the caches as streaming data; a multiple of 16.  `sink`
/// gets a word that nothing else depends on, so that the loads cannot be left out.
void launch_streaming_read(const void* data, std::size_t bytes, std::uint32_t* sink,
                           cudaStream_t stream);

/// bf16 values of about a standard normal distribution.
void launch_fill_bf16(void* values, std::size_t count, std::uint64_t seed, cudaStream_t stream);

/// e4m3 values of about a standard normal distribution, rounded to the format's nearest.
void launch_fill_e4m3(void* values, std::size_t count, std::uint64_t seed, cudaStream_t stream);

}  // namespace headsplit::agent
