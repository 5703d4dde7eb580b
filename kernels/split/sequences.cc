#include "kernels/split/sequences.h"

#include <algorithm>
#include <bit>

namespace headsplit::kernels::split {
namespace {

/// One sequence a request.  All rows go over all tokens: there are few query tokens, and their
/// masks differ by as many tokens.
Sequences latent_sequences(const Problem& problem) {
  const RankProblem& shape = problem.shape;
  return {.packed_rows = shape.query_tokens * shape.local_heads,
          .lengths = problem.lengths,
          .token_bytes = static_cast<double>(cache_row_bytes(shape)),
          .output_width = shape.d_latent,
          .attended = {}};
}

/// One sequence a request and KV head.
Sequences head_sequences(const Problem& problem) {
  const RankProblem& shape = problem.shape;
  const int group = shape.local_heads / shape.kv_heads;
  Sequences sequences{.packed_rows = shape.query_tokens * group,
                      .lengths = {},
                      .token_bytes = 2.0 * (shape.query_width() + shape.output_width()),
                      .output_width = shape.output_width(),
                      .attended = {}};
  for (const std::int32_t length : problem.lengths) {
    sequences.lengths.insert(sequences.lengths.end(), static_cast<std::size_t>(shape.kv_heads),
                             length);
  }
  sequences.attended = [&problem, group](int sequence, int row_begin, int row_count) {
    const int request = sequence / problem.shape.kv_heads;
    std::int32_t most = 0;
    for (int token = row_begin / group; token <= (row_begin + row_count - 1) / group; ++token) {
      most = std::max(most, problem.attended(request, token));
    }
    return most;
  };
  return sequences;
}

}  // namespace

Sequences sequences_of(const Problem& problem) {
  return problem.shape.family == Family::per_head ? head_sequences(problem)
                                                  : latent_sequences(problem);
}

std::vector<std::int32_t> attended_tokens(const Problem& problem) {
  std::vector<std::int32_t> ends;
  for (int request = 0; request < problem.shape.batch; ++request) {
    for (int token = 0; token < problem.shape.query_tokens; ++token) {
      ends.push_back(problem.attended(request, token));
    }
  }
  return ends;
}

std::vector<std::int32_t> used_slots(const Problem& problem) {
  std::vector<std::int32_t> used(static_cast<std::size_t>(problem.page_count));
  for (std::size_t request = 0; request < problem.lengths.size(); ++request) {
    const auto* pages =
        &problem.page_table[request * static_cast<std::size_t>(problem.pages_per_request)];
    for (int left = problem.lengths[request]; left > 0; left -= problem.page_tokens) {
      used[static_cast<std::size_t>(*pages++)] = std::min(left, problem.page_tokens);
    }
  }
  return used;
}

Result<void> check_page_tokens(std::string_view who, int page_tokens) {
  constexpr int kLeast = 16;
  constexpr int kMost = 128;
  if (page_tokens >= kLeast && page_tokens <= kMost &&
      std::has_single_bit(static_cast<unsigned>(page_tokens))) {
    return {};
  }
  return fail(ErrorKind::config, who, " pages of 16, 32, 64 or 128 tokens, not ", page_tokens);
}

}  // namespace headsplit::kernels::split
