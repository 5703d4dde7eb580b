#pragma once

#include <cuda_runtime_api.h>

#include <span>
#include <vector>

#include "kernels/device/pool.h"
#include "kernels/reference.h"

namespace headsplit::kernels {

/// The same rows as reference_rows, in fp64 on the current GPU, some hundred times faster;
/// attention only, whose sums have another order; rows of kv_expand and dsa_indexer are made on the
/// CPU.  pool: for its own memory, or null.  Waits for the result. Fails: cuda (out of memory; what
/// went wrong on the stream before).
Result<std::vector<ReferenceRow>> reference_rows_cuda(const Problem& problem,
                                                      std::span<const std::int64_t> rows,
                                                      cudaStream_t stream,
                                                      DevicePool* pool = nullptr);

}  // namespace headsplit::kernels
