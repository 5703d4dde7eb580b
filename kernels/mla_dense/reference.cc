#include "kernels/mla_dense/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/bf16.h"
#include "kernels/e4m3.h"

namespace headsplit::kernels {

float query_value(const Problem& problem, std::int64_t index) {
  return round_to_bf16(
      random_value(problem.seed, Tensor::query, static_cast<std::uint64_t>(index)));
}

float cache_value(const Problem& problem, std::int64_t page, int slot, int dim) {
  const RankProblem& shape = problem.shape;
  const auto row = static_cast<std::uint64_t>(page * problem.page_tokens + slot);
  const float value = random_value(
      problem.seed, Tensor::cache,
      row * static_cast<std::uint64_t>(shape.d_qk()) + static_cast<std::uint64_t>(dim));
  const bool eight_bits = shape.kv_dtype == KvDtype::fp8 && dim < shape.d_latent;
  if (!eight_bits) return round_to_bf16(value);
  const int tiles = (shape.d_latent + kFp8ScaleTile - 1) / kFp8ScaleTile;
  const float scale =
      fp8_cache_scale(problem.seed, row * static_cast<std::uint64_t>(tiles) +
                                        static_cast<std::uint64_t>(dim / kFp8ScaleTile));
  return e4m3_value(e4m3_bits(value / scale)) * scale;
}

ReferenceRow mla_dense_reference(const Problem& problem, std::int64_t row) {
  const RankProblem& shape = problem.shape;
  const std::int64_t rows_a_request = std::int64_t{1} * shape.query_tokens * shape.local_heads;
  const int request = static_cast<int>(row / rows_a_request);
  const int query_token = static_cast<int>(row % rows_a_request / shape.local_heads);
  const int tokens = problem.attended(request, query_token);

  ReferenceRow out{.values = std::vector<double>(static_cast<std::size_t>(shape.d_latent)),
                   .lse = -std::numeric_limits<double>::infinity()};
  if (tokens == 0) return out;

  std::vector<double> q;
  for (int d = 0; d < shape.d_qk(); ++d) q.push_back(query_value(problem, row * shape.d_qk() + d));

  std::vector<std::vector<double>> k(static_cast<std::size_t>(tokens));
  std::vector<double> s;
  for (int j = 0; j < tokens; ++j) {
    const auto table_index =
        std::int64_t{request} * problem.pages_per_request + j / problem.page_tokens;
    const auto page = problem.page_table[static_cast<std::size_t>(table_index)];
    double dot = 0;
    for (int d = 0; d < shape.d_qk(); ++d) {
      k[size_t(j)].push_back(cache_value(problem, page, j % problem.page_tokens, d));
      dot += q[size_t(d)] * k[size_t(j)].back();
    }
    s.push_back(double{problem.softmax_scale} * dot);
  }

  const double s_max = *std::max_element(s.begin(), s.end());
  double sum = 0;
  for (const double score : s) sum += std::exp(score - s_max);
  out.lse = s_max + std::log(sum);
  for (int j = 0; j < tokens; ++j) {
    const double p = std::exp(s[size_t(j)] - out.lse);
    for (int d = 0; d < shape.d_latent; ++d) out.values[size_t(d)] += p * k[size_t(j)][size_t(d)];
  }
  return out;
}

}  // namespace headsplit::kernels
