#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace headsplit::agent {

/// C [M, N] fp32 = A [M, K] x B^T [N, K], bf16, one warp a 16 x 8 tile of C and one
/// mma.sync.m16n8k16 a step: 2 M N K tensor-core operations and not one more.  M % 16 = 0,
/// N % 8 = 0, K % 16 = 0.
void launch_exact_matmul(const void* a, const void* b, float* c, int m, int n, int k,
                         cudaStream_t stream);

/// Write `bytes` (a multiple of 16) once.
void launch_streaming_write(void* data, std::size_t bytes, std::uint32_t value,
                            cudaStream_t stream);

}  // namespace headsplit::agent
