#include "kernels/kv_expand/reference.h"

#include <cmath>
#include <cstddef>

#include "kernels/cpu/thread_pool.h"
#include "kernels/kv_expand/stored_values.h"
#include "kernels/mla_dense/reference.h"

namespace headsplit::kernels {
namespace {

using std::size_t;

/// A weight of matrix row `row` of all that are stored: W_UK's, then W_UV's.
float weight(const Problem& problem, std::int64_t row, int latent_dim) {
  const int d_latent = problem.shape.d_latent;
  return stored_weight(problem.seed, row * d_latent + latent_dim,
                       1 / std::sqrt(static_cast<float>(d_latent)));
}

std::int64_t whole_heads(const Problem& problem) {
  return problem.source.heads == 0 ? problem.shape.local_heads : problem.source.heads;
}

std::int64_t whole_head(const Problem& problem, int head) {
  return problem.source.heads == 0 ? head : problem.source.first_head + head;
}

ReferenceRow expand(const Problem& problem, const ExpandedRow& at) {
  const RankProblem& shape = problem.shape;
  std::vector<double> latent(size_t(shape.d_latent));
  for (int i = 0; i < shape.d_latent; ++i) {
    latent[size_t(i)] = cache_value(problem, at.page, at.slot, i);
  }
  ReferenceRow out;
  const auto add_product = [&](const auto& weight_of, int dim) {
    double sum = 0;
    for (int i = 0; i < shape.d_latent; ++i) {
      sum += latent[size_t(i)] * weight_of(problem, at.head, dim, i);
    }
    out.values.push_back(sum);
  };
  for (int d = 0; d < shape.d_nope; ++d) add_product(up_key_weight, d);
  for (int d = 0; d < shape.d_rope; ++d) {
    out.values.push_back(cache_value(problem, at.page, at.slot, shape.d_latent + d));
  }
  for (int d = 0; d < shape.d_v; ++d) add_product(up_value_weight, d);
  return out;
}

}  // namespace

ExpandedRow expanded_row(const Problem& problem, std::int64_t row) {
  ExpandedRow at{.request = problem.request_of(row),
                 .head = static_cast<int>(row % problem.shape.local_heads)};
  std::int64_t token = row / problem.shape.local_heads;
  for (int i = 0; i < at.request; ++i) token -= problem.lengths[size_t(i)];
  at.token = static_cast<int>(token);
  const std::int64_t entry =
      std::int64_t{at.request} * problem.pages_per_request + at.token / problem.page_tokens;
  at.page = problem.page_table[size_t(entry)];
  at.slot = at.token % problem.page_tokens;
  return at;
}

float up_key_weight(const Problem& problem, int head, int dim, int latent_dim) {
  return weight(problem, whole_head(problem, head) * problem.shape.d_nope + dim, latent_dim);
}

float up_value_weight(const Problem& problem, int head, int dim, int latent_dim) {
  const std::int64_t first = whole_heads(problem) * problem.shape.d_nope;
  return weight(problem, first + whole_head(problem, head) * problem.shape.d_v + dim, latent_dim);
}

Result<std::vector<ReferenceRow>> kv_expand_reference_rows(const Problem& problem,
                                                           std::span<const std::int64_t> rows) {
  ThreadPool pool(available_threads());
  std::vector<ReferenceRow> found(rows.size());
  pool.for_each(static_cast<int>(rows.size()), [&](int i, int) {
    found[size_t(i)] = expand(problem, expanded_row(problem, rows[size_t(i)]));
  });
  return found;
}

}  // namespace headsplit::kernels
