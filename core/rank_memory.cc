#include "core/rank_memory.h"

#include <algorithm>

namespace headsplit {
namespace {

constexpr std::int64_t kPageTokens = 64;
constexpr int kScaleWidth = 128;  // latent values that share one FP8 scale
constexpr std::int64_t kIndexScaleBytes = 4;
/// Context splits whose fp32 partials a launch may hold beyond one a request: kernels cut the
/// whole batch into about as many parts as they have workers.
constexpr double kSplitPartials = 256;
/// Rows of those partials where a request has many: then only tiles of its rows are split.
constexpr double kPartialRowsMax = kSplitPartials * 256;

/// What kv_expand keeps beside its caches: the library's workspace and the products of one chunk.
constexpr double kExpandScratchBytes = 96 << 20;

double attention_bytes(const RankProblem& problem) {
  const double rows_a_request = 1.0 * problem.query_tokens * problem.local_heads;
  const double rows = rows_a_request * problem.batch;
  const double split_rows = std::min(rows_a_request * kSplitPartials, kPartialRowsMax);
  const double output_row = 4.0 * (problem.output_width() + 1);
  return rows * (2.0 * problem.query_width() + output_row) + (rows + split_rows) * output_row;
}

/// The index lists, and how much of each is valid.
double list_bytes(const RankProblem& problem) {
  return 4.0 * problem.batch * problem.query_tokens * (problem.top_k + 1);
}

/// Queries, the weights of their heads, a score for each token, and the list.
double indexer_bytes(const RankProblem& problem) {
  const double queries = 1.0 * problem.batch * problem.query_tokens;
  const double of_heads = 1.0 * problem.index_heads * (problem.index_dim + 4);
  return queries * (of_heads + 4.0 * static_cast<double>(problem.context)) + list_bytes(problem);
}

double weight_bytes(const RankProblem& problem) {
  return 2.0 * problem.local_heads * (problem.d_nope + problem.d_v) * problem.d_latent;
}

}  // namespace

std::int64_t expanded_row_bytes(const RankProblem& problem) {
  return std::int64_t{2} * problem.kv_heads * (problem.d_nope + problem.d_rope + problem.d_v);
}

std::int64_t cache_row_bytes(const RankProblem& problem) {
  if (problem.family == Family::per_head) return expanded_row_bytes(problem);
  if (problem.family == Family::dsa_indexer) return problem.index_dim + kIndexScaleBytes;
  if (problem.kv_dtype == KvDtype::bf16) return std::int64_t{2} * problem.d_qk();
  if (problem.kv_dtype == KvDtype::fp8_tensor) return problem.d_qk();
  const int scales = (problem.d_latent + kScaleWidth - 1) / kScaleWidth;
  return std::int64_t{1} * problem.d_latent + 4 * scales + 2 * problem.d_rope;
}

std::int64_t spare_pages(std::int64_t used_pages) { return 1 + used_pages / 64; }

double memory_bytes(const RankProblem& problem) {
  const std::int64_t used = problem.batch * ((problem.context + kPageTokens - 1) / kPageTokens);
  const double slots = static_cast<double>(used + spare_pages(used)) * kPageTokens;
  const double cache = slots * static_cast<double>(cache_row_bytes(problem));
  if (problem.family == Family::dsa_indexer) return cache + indexer_bytes(problem);
  if (problem.family != Family::kv_expand) {
    return cache + attention_bytes(problem) + list_bytes(problem);
  }
  return cache + slots * static_cast<double>(expanded_row_bytes(problem)) + weight_bytes(problem) +
         kExpandScratchBytes;
}

}  // namespace headsplit
