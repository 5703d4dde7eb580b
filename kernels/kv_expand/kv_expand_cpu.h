#pragma once

#include <memory>

#include "core/result.h"
#include "kernels/kernel.h"

namespace headsplit::kernels {

/// kv_expand on the CPU: a worker takes one head of a run of pages, packs the head's weights to
/// fp32 and multiplies each page with them.  Fails: config (shape.h; not enough memory).
Result<std::unique_ptr<BoundKernel>> bind_kv_expand_cpu(const Problem& problem,
                                                        const BindOptions& options);

}  // namespace headsplit::kernels
