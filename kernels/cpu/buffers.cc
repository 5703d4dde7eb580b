#include "kernels/cpu/buffers.h"

#include <algorithm>
#include <cstring>

#include "kernels/bf16.h"
#include "kernels/random_value.h"

namespace headsplit::kernels {
namespace {

/// Any bf16 whose bits are all ones is a NaN.
constexpr int kNanByte = 0xFF;

/// The stored values of a tensor (per_head/ and mla_dense/stored_values.h), from `index` on.
void fill_random(std::uint64_t seed, Tensor tensor, std::int64_t index, std::int64_t count,
                 std::uint16_t* out) {
  for (std::int64_t i = 0; i < count; ++i) {
    out[i] = bf16_bits(random_value(seed, tensor, static_cast<std::uint64_t>(index + i)));
  }
}

void fill_query(const Problem& problem, std::uint16_t* query, ThreadPool& pool) {
  const std::int64_t width = problem.shape.query_width();
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

/// A cache of several heads a page, [page_count, heads, page_tokens, width]: which of them are ours
/// in the whole problem's, and whose values they are.
struct CacheFill {
  Tensor tensor = Tensor::cache;
  int heads = 1;
  int whole_heads = 1;
  int width = 1;
};

AlignedArray<std::uint16_t> make_cache(const Problem& problem, const CacheFill& fill,
                                       ThreadPool& pool) {
  const std::vector<int> used = used_slots(problem);
  const std::int64_t head_values = std::int64_t{1} * problem.page_tokens * fill.width;
  const std::int64_t blocks = std::int64_t{problem.page_count} * fill.heads;
  auto cache = make_aligned<std::uint16_t>(static_cast<std::size_t>(blocks * head_values));
  pool.for_each(static_cast<int>(blocks), [&](int block, int) {
    const int page = block / fill.heads;
    const int head = block % fill.heads;
    const int whole_head =
        fill.heads == 1 && fill.whole_heads == 1 ? 0 : problem.source_kv_head(head);
    const std::int64_t whole_block = problem.source_page(page) * fill.whole_heads + whole_head;
    std::uint16_t* const begin = cache.get() + block * head_values;
    const std::int64_t used_values =
        std::int64_t{1} * used[static_cast<std::size_t>(page)] * fill.width;
    fill_random(problem.seed, fill.tensor, whole_block * head_values, used_values, begin);
    std::memset(begin + used_values, kNanByte,
                static_cast<std::size_t>(head_values - used_values) * sizeof(std::uint16_t));
  });
  return cache;
}

}  // namespace

AlignedArray<std::uint16_t> make_latent_cache(const Problem& problem, ThreadPool& pool) {
  return make_cache(problem, {.width = problem.shape.d_qk()}, pool);
}

CpuBuffers make_cpu_buffers(const Problem& problem, std::int64_t partial_rows, ThreadPool& pool) {
  const RankProblem& shape = problem.shape;
  const auto rows = static_cast<std::size_t>(problem.rows());
  const auto query_width = static_cast<std::size_t>(shape.query_width());
  const auto output_width = static_cast<std::size_t>(shape.output_width());
  const auto partials = static_cast<std::size_t>(partial_rows);
  CpuBuffers buffers{
      .query = make_aligned<std::uint16_t>(rows * query_width),
      .output = make_aligned<float>(rows * output_width),
      .lse = make_aligned<float>(rows),
      .partial_output = make_aligned<float>(partials * output_width),
      .partial_lse = make_aligned<float>(partials),
  };
  fill_query(problem, buffers.query.get(), pool);
  if (shape.family != Family::per_head) {
    buffers.keys = make_latent_cache(problem, pool);
    return buffers;
  }
  const int whole_heads = problem.source.heads == 0 ? shape.kv_heads : problem.source.kv_heads;
  const auto cache_of = [&](Tensor tensor, int width) {
    const CacheFill fill{tensor, shape.kv_heads, whole_heads, width};
    return make_cache(problem, fill, pool);
  };
  buffers.keys = cache_of(Tensor::key, shape.query_width());
  buffers.values = cache_of(Tensor::value, shape.output_width());
  return buffers;
}

}  // namespace headsplit::kernels
