#include "kernels/mla_dense/reference.h"

#include <algorithm>
#include <cstddef>

#include "core/check.h"
#include "kernels/mla_dense/stored_values.h"

namespace headsplit::kernels {

using std::size_t;

float query_value(const Problem& problem, std::int64_t index) {
  const std::int64_t width = problem.shape.d_qk();
  const std::int64_t whole_index = problem.source_row(index / width) * width + index % width;
  return stored_query_value(problem.seed, whole_index);
}

float cache_value(const Problem& problem, std::int64_t page, int slot, int dim) {
  const RankProblem& shape = problem.shape;
  return stored_cache_value(problem.seed,
                            {.slot = problem.source_page(page) * problem.page_tokens + slot,
                             .dim = dim,
                             .d_latent = shape.d_latent,
                             .d_qk = shape.d_qk(),
                             .eight_bits = shape.kv_dtype == KvDtype::fp8,
                             .one_scale = shape.kv_dtype == KvDtype::fp8_tensor});
}

ReferenceKeys reference_keys(const Problem& problem, int request, ThreadPool& pool) {
  const int d_qk = problem.shape.d_qk();
  const int tokens = problem.lengths[size_t(request)];
  ReferenceKeys keys{.request = request,
                     .values = std::vector<float>(size_t(tokens) * size_t(d_qk))};
  const int pages = (tokens + problem.page_tokens - 1) / problem.page_tokens;
  pool.for_each(pages, [&](int table_column, int) {
    const auto table_index = std::int64_t{request} * problem.pages_per_request + table_column;
    const auto page = problem.page_table[size_t(table_index)];
    const int first = table_column * problem.page_tokens;
    const int slots = std::min(problem.page_tokens, tokens - first);
    float* value = keys.values.data() + size_t(first) * size_t(d_qk);
    for (int slot = 0; slot < slots; ++slot) {
      for (int d = 0; d < d_qk; ++d) *value++ = cache_value(problem, page, slot, d);
    }
  });
  return keys;
}

ReferenceRow mla_dense_reference(const Problem& problem, const ReferenceKeys& keys,
                                 std::int64_t row) {
  const RankProblem& shape = problem.shape;
  const auto d_qk = size_t(shape.d_qk());
  CHECK(problem.request_of(row) == keys.request);
  const int query_token =
      static_cast<int>(row / shape.local_heads % std::int64_t{shape.query_tokens});
  const auto tokens = size_t(problem.attended(keys.request, query_token));
  std::vector<double> q(d_qk);
  for (size_t d = 0; d < d_qk; ++d) {
    q[d] = query_value(problem, row * shape.d_qk() + static_cast<std::int64_t>(d));
  }
  const float* const rows = keys.values.data();
  return reference_attention(
      q, {.keys = rows, .key_stride = d_qk, .values = rows, .value_stride = d_qk, .count = tokens},
      double{problem.softmax_scale}, size_t(shape.d_latent));
}

ReferenceRow mla_dense_reference(const Problem& problem, std::int64_t row) {
  ThreadPool alone(1);
  return mla_dense_reference(problem, reference_keys(problem, problem.request_of(row), alone), row);
}

Result<std::vector<ReferenceRow>> mla_dense_reference_rows(const Problem& problem,
                                                           std::span<const std::int64_t> rows) {
  ThreadPool pool(available_threads());
  std::vector<ReferenceRow> found(rows.size());
  for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    const int request = problem.request_of(rows[begin]);
    while (end < rows.size() && problem.request_of(rows[end]) == request) ++end;
    const ReferenceKeys keys = reference_keys(problem, request, pool);
    pool.for_each(static_cast<int>(end - begin), [&](int offset, int) {
      const size_t i = begin + size_t(offset);
      found[i] = mla_dense_reference(problem, keys, rows[i]);
    });
  }
  return found;
}

}  // namespace headsplit::kernels
