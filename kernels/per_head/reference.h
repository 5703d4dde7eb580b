#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/thread_pool.h"
#include "kernels/problem.h"
#include "kernels/reference.h"

namespace headsplit::kernels {

/// Keys and values of one KV head of one request in token order, made once for all rows that read
/// them.
struct PerHeadTokens {
  int request = -1;
  int kv_head = -1;
  std::vector<float> keys;    ///< [length, d_k]
  std::vector<float> values;  ///< [length, d_v]
};
PerHeadTokens per_head_tokens(const Problem& problem, int request, int kv_head, ThreadPool& pool);

/// Attention of one output row in fp64 on the inputs as stored.  row: one that reads `tokens`.
ReferenceRow per_head_reference(const Problem& problem, const PerHeadTokens& tokens,
                                std::int64_t row);
ReferenceRow per_head_reference(const Problem& problem, std::int64_t row);

/// The rows in order, on all processors.  Never fails.
Result<std::vector<ReferenceRow>> per_head_reference_rows(const Problem& problem,
                                                          std::span<const std::int64_t> rows);

/// The KV head that an output row reads.
int kv_head_of(const Problem& problem, std::int64_t row);

/// The stored value of inputs, which kernels fill theirs with.
/// index: into the query [batch, query_tokens, local_heads, d_k].
float per_head_query_value(const Problem& problem, std::int64_t index);
/// page, kv_head, slot, dim: into the problem's own K or V cache.
float key_value(const Problem& problem, std::int64_t page, int kv_head, int slot, int dim);
float value_value(const Problem& problem, std::int64_t page, int kv_head, int slot, int dim);

}  // namespace headsplit::kernels
