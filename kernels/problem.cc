#include "kernels/problem.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "core/check.h"
#include "kernels/random_value.h"

namespace headsplit::kernels {
namespace {

std::int64_t pages_of(std::int64_t tokens, int page_tokens) {
  return (tokens + page_tokens - 1) / page_tokens;
}

std::vector<std::int32_t> draw_lengths(const RankProblem& shape, std::uint64_t seed) {
  const auto context = static_cast<std::int32_t>(shape.context);
  std::vector<std::int32_t> lengths(static_cast<std::size_t>(shape.batch), context);
  if (shape.lengths == Lengths::equal) return lengths;
  for (std::size_t i = 1; i < lengths.size(); ++i) {
    const std::uint64_t bits = random_bits(seed, Tensor::length, i);
    lengths[i] = static_cast<std::int32_t>(bits % (static_cast<std::uint64_t>(context) + 1));
  }
  if (lengths.size() > 2) lengths.back() = 0;
  return lengths;
}

/// 0..count-1 in an order drawn from the seed (Fisher-Yates).
std::vector<std::int32_t> shuffled_pages(std::int32_t count, std::uint64_t seed) {
  std::vector<std::int32_t> pages(static_cast<std::size_t>(count));
  std::iota(pages.begin(), pages.end(), 0);
  for (std::size_t i = pages.size(); i > 1; --i) {
    std::swap(pages[i - 1], pages[random_bits(seed, Tensor::page, i) % i]);
  }
  return pages;
}

void lay_out_pages(Problem& problem) {
  const auto columns = static_cast<std::size_t>(problem.pages_per_request);
  std::int64_t used = 0;
  for (const auto length : problem.lengths) used += pages_of(length, problem.page_tokens);
  problem.page_count = static_cast<std::int32_t>(used + spare_pages(used));
  problem.page_table.assign(problem.lengths.size() * columns, kUnusedPage);
  const auto pages = shuffled_pages(problem.page_count, problem.seed);
  auto next = pages.begin();
  for (std::size_t request = 0; request < problem.lengths.size(); ++request) {
    const auto count = pages_of(problem.lengths[request], problem.page_tokens);
    std::copy_n(next, count, problem.page_table.begin() + std::ptrdiff_t(request * columns));
    next += count;
  }
}

/// Moves `count` tokens drawn from all of `tokens` to its front.
void draw_tokens(std::vector<std::int32_t>& tokens, std::size_t count, std::uint64_t seed,
                 std::uint64_t list) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random_bits(seed, Tensor::index, (list << 20) + i);
    std::swap(tokens[i], tokens[i + bits % (tokens.size() - i)]);
  }
}

void draw_lists(Problem& problem) {
  const RankProblem& shape = problem.shape;
  std::vector<std::int32_t> tokens;
  for (int request = 0; request < shape.batch; ++request) {
    for (int token = 0; token < shape.query_tokens; ++token) {
      const std::size_t list = problem.top_k_lengths.size();
      tokens.resize(static_cast<std::size_t>(problem.attended(request, token)));
      std::iota(tokens.begin(), tokens.end(), 0);
      const auto count = std::min(tokens.size(), static_cast<std::size_t>(shape.top_k));
      draw_tokens(tokens, count, problem.seed, list);
      const auto* const pages =
          problem.page_table.data() + std::ptrdiff_t{request} * problem.pages_per_request;
      for (std::size_t i = 0; i < static_cast<std::size_t>(shape.top_k); ++i) {
        const std::int32_t chosen = i < count ? tokens[i] : 0;
        problem.indices.push_back(pages[chosen / problem.page_tokens] * problem.page_tokens +
                                  chosen % problem.page_tokens);
      }
      problem.top_k_lengths.push_back(static_cast<std::int32_t>(count));
    }
  }
}

}  // namespace

std::int64_t Problem::length_sum() const {
  return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
}

std::int64_t Problem::rows() const {
  const std::int64_t heads = shape.local_heads;
  if (shape.family == Family::kv_expand) return length_sum() * heads;
  if (shape.family == Family::dsa_indexer) return std::int64_t{shape.batch} * shape.query_tokens;
  return heads * shape.batch * shape.query_tokens;
}

int Problem::request_of(std::int64_t row) const {
  if (shape.family == Family::dsa_indexer) return static_cast<int>(row / shape.query_tokens);
  const std::int64_t token = row / shape.local_heads;  // of all requests
  if (shape.family != Family::kv_expand) return static_cast<int>(token / shape.query_tokens);
  std::int64_t before = 0;
  int request = 0;
  while (token >= before + lengths[static_cast<std::size_t>(request)]) {
    before += lengths[static_cast<std::size_t>(request++)];
  }
  return request;
}

int Problem::source_kv_head(int kv_head) const {
  if (source.heads == 0) return kv_head;
  const int group = shape.local_heads / shape.kv_heads;
  return (source.first_head + kv_head * group) / (source.heads / source.kv_heads);
}

std::int64_t Problem::source_row(std::int64_t row) const {
  if (source.heads == 0) return row;
  const std::int64_t head = row % shape.local_heads;
  const std::int64_t token = row / shape.local_heads;  // of all requests
  const std::int64_t whole_token = token + std::int64_t{source.first_request} * shape.query_tokens;
  return whole_token * source.heads + source.first_head + head;
}

std::int64_t Problem::source_page(std::int64_t page) const {
  return source.pages.empty() ? page : source.pages[static_cast<std::size_t>(page)];
}

std::int32_t Problem::attended(int request, int token) const {
  if (!ends.empty()) {
    return ends[static_cast<std::size_t>(request * shape.query_tokens + token)];
  }
  const auto length = lengths[static_cast<std::size_t>(request)];
  return std::max(0, length - (shape.query_tokens - 1 - token));
}

std::vector<std::int32_t> Problem::chosen_slots(int request, int token) const {
  const auto list = static_cast<std::size_t>(request * shape.query_tokens + token);
  const auto first = indices.begin() + static_cast<std::ptrdiff_t>(list) * shape.top_k;
  std::vector<std::int32_t> slots;
  std::copy_if(first, first + top_k_lengths[list], std::back_inserter(slots),
               [&](std::int32_t slot) { return slot >= 0 && slot < slot_count(); });
  return slots;
}

Problem make_problem(const RankProblem& shape, std::uint64_t seed, int page_tokens) {
  return make_problem(shape, draw_lengths(shape, seed), seed, page_tokens);
}

Problem make_problem(const RankProblem& shape, std::vector<std::int32_t> lengths,
                     std::uint64_t seed, int page_tokens) {
  CHECK(static_cast<int>(lengths.size()) == shape.batch);
  CHECK(page_tokens > 0);
  for (const auto length : lengths) CHECK(length >= 0 && length <= shape.context);
  Problem problem;
  problem.shape = shape;
  problem.page_tokens = page_tokens;
  problem.softmax_scale = static_cast<float>(1 / std::sqrt(double(shape.d_nope + shape.d_rope)));
  problem.seed = seed;
  problem.lengths = std::move(lengths);
  problem.pages_per_request =
      static_cast<int>(std::max<std::int64_t>(1, pages_of(shape.context, page_tokens)));
  lay_out_pages(problem);
  if (shape.family == Family::mla_sparse) draw_lists(problem);
  return problem;
}

}  // namespace headsplit::kernels
