#include "kernels/mla_dense/cpu_buffers.h"

#include <algorithm>
#include <cstring>

#include "kernels/bf16.h"
#include "kernels/random_value.h"

namespace headsplit::kernels {
namespace {

/// Any bf16 whose bits are all ones is a NaN.
constexpr int kNanByte = 0xFF;

/// The values of query_value and cache_value for a bf16 cache, from `index` on.
void fill_random(std::uint64_t seed, Tensor tensor, std::int64_t index, std::int64_t count,
                 std::uint16_t* out) {
  for (std::int64_t i = 0; i < count; ++i) {
    out[i] = bf16_bits(random_value(seed, tensor, static_cast<std::uint64_t>(index + i)));
  }
}

void fill_query(const Problem& problem, std::uint16_t* query, ThreadPool& pool) {
  const std::int64_t width = problem.shape.d_qk();
  pool.for_each(static_cast<int>(problem.rows()), [&](int row, int) {
    const std::int64_t begin = problem.source_row(row) * width;
    fill_random(problem.seed, Tensor::query, begin, width, query + row * width);
  });
}

/// Slots of each page that some request uses.  [page_count]
std::vector<int> used_slots(const Problem& problem) {
  std::vector<int> used(static_cast<std::size_t>(problem.page_count));
  const std::int32_t* entries = problem.page_table.data();
  for (const int length : problem.lengths) {
    for (int begin = 0, i = 0; begin < length; begin += problem.page_tokens, ++i) {
      used[static_cast<std::size_t>(entries[i])] = std::min(problem.page_tokens, length - begin);
    }
    entries += problem.pages_per_request;
  }
  return used;
}

void fill_cache(const Problem& problem, std::uint16_t* cache, ThreadPool& pool) {
  const std::vector<int> used = used_slots(problem);
  const std::int64_t page_values = std::int64_t{1} * problem.page_tokens * problem.shape.d_qk();
  pool.for_each(problem.page_count, [&](int page, int) {
    const std::int64_t begin = page * page_values;
    const std::int64_t used_values =
        std::int64_t{1} * used[static_cast<std::size_t>(page)] * problem.shape.d_qk();
    fill_random(problem.seed, Tensor::cache, problem.source_page(page) * page_values, used_values,
                cache + begin);
    std::memset(cache + begin + used_values, kNanByte,
                static_cast<std::size_t>(page_values - used_values) * sizeof(std::uint16_t));
  });
}

}  // namespace

CpuBuffers make_cpu_buffers(const Problem& problem, int partial_count, ThreadPool& pool) {
  const auto rows = static_cast<std::size_t>(problem.rows());
  const auto d_qk = static_cast<std::size_t>(problem.shape.d_qk());
  const auto d_latent = static_cast<std::size_t>(problem.shape.d_latent);
  const std::size_t cached_tokens = std::size_t{1} * static_cast<std::size_t>(problem.page_count) *
                                    static_cast<std::size_t>(problem.page_tokens);
  const std::size_t partial_rows = static_cast<std::size_t>(partial_count) *
                                   static_cast<std::size_t>(problem.shape.query_tokens) *
                                   static_cast<std::size_t>(problem.shape.local_heads);
  CpuBuffers buffers{
      .query = make_aligned<std::uint16_t>(rows * d_qk),
      .cache = make_aligned<std::uint16_t>(cached_tokens * d_qk),
      .output = make_aligned<float>(rows * d_latent),
      .lse = make_aligned<float>(rows),
      .partial_output = make_aligned<float>(partial_rows * d_latent),
      .partial_lse = make_aligned<float>(partial_rows),
  };
  fill_query(problem, buffers.query.get(), pool);
  fill_cache(problem, buffers.cache.get(), pool);
  return buffers;
}

}  // namespace headsplit::kernels
