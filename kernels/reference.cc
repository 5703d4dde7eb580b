#include "kernels/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/dsa_indexer/reference.h"
#include "kernels/kv_expand/reference.h"
#include "kernels/mla_dense/reference.h"
#include "kernels/mla_sparse/reference.h"
#include "kernels/per_head/reference.h"

namespace headsplit::kernels {

using std::size_t;

Result<std::vector<ReferenceRow>> reference_rows(const Problem& problem,
                                                 std::span<const std::int64_t> rows) {
  const Family family = problem.shape.family;
  if (family == Family::per_head) return per_head_reference_rows(problem, rows);
  if (family == Family::kv_expand) return kv_expand_reference_rows(problem, rows);
  if (family == Family::mla_sparse) return mla_sparse_reference_rows(problem, rows);
  if (family == Family::dsa_indexer) {
    return indexer::dsa_indexer_reference_rows(problem, rows);
  }
  return mla_dense_reference_rows(problem, rows);
}

ReferenceRow reference_attention(std::span<const double> query, const ReferenceTokens& tokens,
                                 double scale, size_t width) {
  ReferenceRow out{.values = std::vector<double>(width),
                   .lse = -std::numeric_limits<double>::infinity()};
  if (tokens.count == 0) return out;
  std::vector<double> s(tokens.count);
  for (size_t j = 0; j < tokens.count; ++j) {
    const float* k = tokens.keys + j * tokens.key_stride;
    double dot = 0;
    for (size_t d = 0; d < query.size(); ++d) dot += query[d] * k[d];
    s[j] = scale * dot;
  }
  const double s_max = *std::max_element(s.begin(), s.end());
  double sum = 0;
  for (const double score : s) sum += std::exp(score - s_max);
  out.lse = s_max + std::log(sum);
  for (size_t j = 0; j < tokens.count; ++j) {
    const float* v = tokens.values + j * tokens.value_stride;
    const double p = std::exp(s[j] - out.lse);
    for (size_t d = 0; d < width; ++d) out.values[d] += p * v[d];
  }
  return out;
}

}  // namespace headsplit::kernels
