#pragma once

#include <cstdint>

#include "core/rank_problem.h"

namespace headsplit {

/// Bytes of one cached token that a kernel reads.  Latent (mla_dense, kv_expand): 2 x d_qk for
/// bf16; d_latent + 4 x d_latent / 128 + 2 x d_rope for fp8 (656 for DeepSeek-V3); d_qk
/// for fp8_tensor.  per_head: 2 x kv_heads x (d_k + d_v), d_k = d_nope + d_rope.  dsa_indexer:
/// index_dim + 4 (an index key).
std::int64_t cache_row_bytes(const RankProblem& problem);

/// Bytes of the keys and values that kv_expand makes of one token, or that per_head reads.
std::int64_t expanded_row_bytes(const RankProblem& problem);

/// Pages that belong to nobody, so that a kernel that strays finds NaN.
std::int64_t spare_pages(std::int64_t used_pages);

/// Memory that a launch on one rank needs.  Attention: cache pages, query, output, LSE and the
/// fp32 partials of splits, of mla_sparse the index lists too; kv_expand: the latent pages, the
/// weights, the expanded pages and 96 MiB of scratch; dsa_indexer: pages of index keys, queries,
/// scores of all tokens and the lists.
double memory_bytes(const RankProblem& problem);

}  // namespace headsplit
