#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/result.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/problem.h"
#include "kernels/reference.h"

namespace headsplit::kernels {

/// Attention of one output row in fp64 on the inputs as stored (rounded to the cache's type): keys
/// are cache rows, values their first d_latent.
ReferenceRow mla_dense_reference(const Problem& problem, std::int64_t row);

/// The cache rows of one request in token order, made once for all of its output rows.
struct ReferenceKeys {
  int request = 0;
  std::vector<float> values;  ///< [length, d_qk]
};
ReferenceKeys reference_keys(const Problem& problem, int request, ThreadPool& pool);

/// The same row from keys at hand.  row: one of `keys.request`.
ReferenceRow mla_dense_reference(const Problem& problem, const ReferenceKeys& keys,
                                 std::int64_t row);

/// The rows in order, on all processors.  Rows of one request that follow each other share its
/// keys.  Never fails; the same form as the one on a GPU.
Result<std::vector<ReferenceRow>> mla_dense_reference_rows(const Problem& problem,
                                                           std::span<const std::int64_t> rows);

/// The stored value of query and cache elements: random_value rounded to bf16 (or to the FP8
/// cache's precision).  Kernels fill their inputs with exactly these.
/// index: into q [batch, query_tokens, local_heads, d_qk].
float query_value(const Problem& problem, std::int64_t index);
/// page, slot, dim: into the cache [page_count, page_tokens, d_qk].
float cache_value(const Problem& problem, std::int64_t page, int slot, int dim);

}  // namespace headsplit::kernels
