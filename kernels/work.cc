#include "kernels/problem.h"

namespace headsplit::kernels {
namespace {

/// Pairs of a query token and a cached token, of one head.
double pairs_a_head(const Problem& problem) {
  const RankProblem& shape = problem.shape;
  const bool prefill = shape.query_tokens > 1 && shape.query_tokens == shape.context;
  if (shape.family != Family::per_head || !prefill) {
    return static_cast<double>(problem.length_sum()) * shape.query_tokens;
  }
  double pairs = 0;
  for (int request = 0; request < shape.batch; ++request) {
    for (int token = 0; token < shape.query_tokens; ++token) {
      pairs += problem.attended(request, token);
    }
  }
  return pairs;
}

/// What kv_expand computes for each token and writes.
Work expansion_work(const Problem& problem) {
  const RankProblem& shape = problem.shape;
  const double tokens = static_cast<double>(problem.length_sum());
  const double products = 1.0 * shape.local_heads * shape.d_latent * (shape.d_nope + shape.d_v);
  const double token_bytes =
      static_cast<double>(cache_row_bytes(shape) + expanded_row_bytes(shape));
  return Work{.flops = 2 * tokens * products, .kv_bytes = tokens * token_bytes};
}

Work sparse_work(const Problem& problem) {
  const RankProblem& shape = problem.shape;
  double chosen = 0;
  for (const std::int32_t length : problem.top_k_lengths) chosen += length;
  const double width = shape.query_width() + shape.output_width();
  return Work{.flops = 2 * chosen * shape.local_heads * width,
              .kv_bytes = chosen * static_cast<double>(cache_row_bytes(shape)),
              .qo_bytes = static_cast<double>(problem.rows()) * width * 2};
}

/// Index keys once, whatever reads them; queries, weights and lists.
Work indexer_work(const Problem& problem) {
  const RankProblem& shape = problem.shape;
  const double tokens = static_cast<double>(problem.length_sum());
  const double rows = static_cast<double>(problem.rows());
  return Work{
      .flops = 2 * tokens * shape.query_tokens * shape.index_heads * shape.index_dim,
      .kv_bytes = tokens * static_cast<double>(cache_row_bytes(shape)),
      .qo_bytes = rows * (1.0 * shape.index_heads * (shape.index_dim + 4) + 4.0 * shape.top_k)};
}

}  // namespace

Work work(const Problem& problem) {
  const RankProblem& shape = problem.shape;
  if (shape.family == Family::kv_expand) return expansion_work(problem);
  if (shape.family == Family::dsa_indexer) return indexer_work(problem);
  if (shape.family == Family::mla_sparse) return sparse_work(problem);
  const double width = shape.query_width() + shape.output_width();
  return Work{
      .flops = 2 * pairs_a_head(problem) * shape.local_heads * width,
      .kv_bytes =
          static_cast<double>(problem.length_sum()) * static_cast<double>(cache_row_bytes(shape)),
      .qo_bytes = static_cast<double>(problem.rows()) * width * 2,
  };
}

}  // namespace headsplit::kernels
