#include "kernels/mla_sparse/reference.h"

#include <cmath>

#include "kernels/cpu/thread_pool.h"
#include "kernels/mla_dense/reference.h"

namespace headsplit::kernels {
namespace {

using std::size_t;

ReferenceRow reference_row(const Problem& problem, std::int64_t row) {
  const RankProblem& shape = problem.shape;
  const auto width = size_t(shape.d_qk());
  const auto token = static_cast<int>(row / shape.local_heads % std::int64_t{shape.query_tokens});
  std::vector<float> keys;
  for (const std::int32_t slot : problem.chosen_slots(problem.request_of(row), token)) {
    for (int d = 0; d < shape.d_qk(); ++d) {
      keys.push_back(
          cache_value(problem, slot / problem.page_tokens, slot % problem.page_tokens, d));
    }
  }
  std::vector<double> query(width);
  for (size_t d = 0; d < width; ++d) {
    query[d] = query_value(problem, row * shape.d_qk() + static_cast<std::int64_t>(d));
  }
  ReferenceRow found = reference_attention(query,
                                           {.keys = keys.data(),
                                            .key_stride = width,
                                            .values = keys.data(),
                                            .value_stride = width,
                                            .count = keys.size() / width},
                                           double{problem.softmax_scale}, size_t(shape.d_latent));
  apply_sink(problem, row, found);
  return found;
}

}  // namespace

Result<std::vector<ReferenceRow>> mla_sparse_reference_rows(const Problem& problem,
                                                            std::span<const std::int64_t> rows) {
  ThreadPool pool(available_threads());
  std::vector<ReferenceRow> found(rows.size());
  pool.for_each(static_cast<int>(rows.size()),
                [&](int i, int) { found[size_t(i)] = reference_row(problem, rows[size_t(i)]); });
  return found;
}

void apply_sink(const Problem& problem, std::int64_t row, ReferenceRow& found) {
  if (problem.sinks.empty() || std::isinf(found.lse)) return;
  const double sink = problem.sinks[size_t(row % problem.shape.local_heads)];
  const double factor = 1 / (1 + std::exp(sink - found.lse));
  for (double& value : found.values) value *= factor;
}

}  // namespace headsplit::kernels
