#include "kernels/per_head/reference.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "core/check.h"
#include "kernels/per_head/stored_values.h"

namespace headsplit::kernels {
namespace {

using std::size_t;

std::int64_t whole_index(const Problem& problem, std::int64_t page, int kv_head, int slot, int dim,
                         int width) {
  const int whole_heads =
      problem.source.heads == 0 ? problem.shape.kv_heads : problem.source.kv_heads;
  return per_head_index({.page = problem.source_page(page),
                         .kv_head = problem.source_kv_head(kv_head),
                         .slot = slot,
                         .dim = dim,
                         .kv_heads = whole_heads,
                         .page_tokens = problem.page_tokens,
                         .width = width});
}

/// Rows by the request and the KV head that they read, as places in `rows`.
std::map<std::pair<int, int>, std::vector<size_t>> by_tokens(const Problem& problem,
                                                             std::span<const std::int64_t> rows) {
  std::map<std::pair<int, int>, std::vector<size_t>> groups;
  for (size_t i = 0; i < rows.size(); ++i) {
    groups[{problem.request_of(rows[i]), kv_head_of(problem, rows[i])}].push_back(i);
  }
  return groups;
}

}  // namespace

int kv_head_of(const Problem& problem, std::int64_t row) {
  const RankProblem& shape = problem.shape;
  return static_cast<int>(row % shape.local_heads) / (shape.local_heads / shape.kv_heads);
}

float per_head_query_value(const Problem& problem, std::int64_t index) {
  const std::int64_t width = problem.shape.query_width();
  return stored_query_value(problem.seed,
                            problem.source_row(index / width) * width + index % width);
}

float key_value(const Problem& problem, std::int64_t page, int kv_head, int slot, int dim) {
  const int width = problem.shape.query_width();
  return stored_key(problem.seed, whole_index(problem, page, kv_head, slot, dim, width));
}

float value_value(const Problem& problem, std::int64_t page, int kv_head, int slot, int dim) {
  const int width = problem.shape.output_width();
  return stored_value(problem.seed, whole_index(problem, page, kv_head, slot, dim, width));
}

PerHeadTokens per_head_tokens(const Problem& problem, int request, int kv_head, ThreadPool& pool) {
  const int d_k = problem.shape.query_width();
  const int d_v = problem.shape.output_width();
  const int tokens = problem.lengths[size_t(request)];
  PerHeadTokens made{.request = request,
                     .kv_head = kv_head,
                     .keys = std::vector<float>(size_t(tokens) * size_t(d_k)),
                     .values = std::vector<float>(size_t(tokens) * size_t(d_v))};
  pool.for_each((tokens + problem.page_tokens - 1) / problem.page_tokens, [&](int column, int) {
    const auto entry = std::int64_t{request} * problem.pages_per_request + column;
    const auto page = problem.page_table[size_t(entry)];
    const int first = column * problem.page_tokens;
    float* key = made.keys.data() + size_t(first) * size_t(d_k);
    float* value = made.values.data() + size_t(first) * size_t(d_v);
    for (int slot = 0; slot < std::min(problem.page_tokens, tokens - first); ++slot) {
      for (int d = 0; d < d_k; ++d) *key++ = key_value(problem, page, kv_head, slot, d);
      for (int d = 0; d < d_v; ++d) *value++ = value_value(problem, page, kv_head, slot, d);
    }
  });
  return made;
}

ReferenceRow per_head_reference(const Problem& problem, const PerHeadTokens& tokens,
                                std::int64_t row) {
  const RankProblem& shape = problem.shape;
  CHECK(problem.request_of(row) == tokens.request && kv_head_of(problem, row) == tokens.kv_head);
  const auto query_token = static_cast<int>(row / shape.local_heads % shape.query_tokens);
  const auto d_k = size_t(shape.query_width());
  const auto d_v = size_t(shape.output_width());
  std::vector<double> query(d_k);
  for (size_t d = 0; d < d_k; ++d) {
    query[d] = per_head_query_value(problem, row * std::int64_t(d_k) + std::int64_t(d));
  }
  return reference_attention(query,
                             {.keys = tokens.keys.data(),
                              .key_stride = d_k,
                              .values = tokens.values.data(),
                              .value_stride = d_v,
                              .count = size_t(problem.attended(tokens.request, query_token))},
                             double{problem.softmax_scale}, d_v);
}

ReferenceRow per_head_reference(const Problem& problem, std::int64_t row) {
  ThreadPool alone(1);
  return per_head_reference(
      problem, per_head_tokens(problem, problem.request_of(row), kv_head_of(problem, row), alone),
      row);
}

Result<std::vector<ReferenceRow>> per_head_reference_rows(const Problem& problem,
                                                          std::span<const std::int64_t> rows) {
  ThreadPool pool(available_threads());
  std::vector<ReferenceRow> found(rows.size());
  for (const auto& [key, places] : by_tokens(problem, rows)) {
    const PerHeadTokens tokens = per_head_tokens(problem, key.first, key.second, pool);
    pool.for_each(static_cast<int>(places.size()), [&, &places = places](int i, int) {
      const size_t place = places[size_t(i)];
      found[place] = per_head_reference(problem, tokens, rows[place]);
    });
  }
  return found;
}

}  // namespace headsplit::kernels
