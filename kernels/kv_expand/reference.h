#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/problem.h"
#include "kernels/reference.h"

namespace headsplit::kernels {

/// An output row of kv_expand: a head of a cached token.
struct ExpandedRow {
  int request = 0;
  int token = 0;  ///< of the request
  int head = 0;
  std::int64_t page = 0;  ///< where its latent, its key and its value are
  int slot = 0;
};
ExpandedRow expanded_row(const Problem& problem, std::int64_t row);

/// Element of W_UK followed by W_UV [local_heads, d_nope or d_v, d_latent], as stored.
float up_key_weight(const Problem& problem, int head, int dim, int latent_dim);
float up_value_weight(const Problem& problem, int head, int dim, int latent_dim);

/// Keys and values of rows in fp64: values [d_nope of W_UK c, the shared RoPE key, d_v of W_UV c],
/// lse 0.  On all processors.  Never fails.
Result<std::vector<ReferenceRow>> kv_expand_reference_rows(const Problem& problem,
                                                           std::span<const std::int64_t> rows);

}  // namespace headsplit::kernels
