#pragma once

#include <cuda_runtime_api.h>

#include "kernels/kv_write/kv_write.h"

namespace headsplit::kernels::kv_write {

/// Enqueues what write_rows does, to the bit.  All pointers are device memory, 16-byte aligned.
cudaError_t enqueue_write(const Tokens& tokens, ScaleRule rule, std::uint8_t* cache,
                          cudaStream_t stream);

/// Enqueues what write_tensor_rows does, to the bit.  saturated: [1], to which the number of values
/// that did is added.
cudaError_t enqueue_tensor_write(const Tokens& tokens, float scale, std::uint8_t* cache,
                                 unsigned long long* saturated, cudaStream_t stream);

}  // namespace headsplit::kernels::kv_write
