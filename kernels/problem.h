#pragma once

#include <cstdint>
#include <vector>

#include "core/rank_problem.h"

namespace headsplit::kernels {

/// A page-table entry that no request uses.  Kernels must never read through one.
constexpr std::int32_t kUnusedPage = -1;

/// Where the inputs of a rank's problem are in those of the whole problem, so that the ranks of a
/// layout compute parts of one attention.  By default the problem is whole itself.
struct ProblemSource {
  int heads = 0;                    ///< of the whole problem; 0 = this problem is whole
  int first_head = 0;               ///< this problem's first, in the whole
  int first_request = 0;            ///< likewise
  std::vector<std::int32_t> pages;  ///< [page_count], the page of the whole that each is
};

/// A rank problem made concrete: KV lengths drawn and the paged cache laid out.
/// Query q [batch, query_tokens, local_heads, d_qk]; cache [page_count, page_tokens, d_qk];
/// output [batch, query_tokens, local_heads, d_latent], bf16 on CUDA and fp32 on the CPU; LSE
/// [batch, query_tokens, local_heads] fp32, natural logarithm.  Query token t of a request with KV
/// length n attends to the first n - (query_tokens - 1 - t) tokens (design.md section 8); a row
/// that attends to nothing has output 0 and LSE -infinity.
struct Problem {
  RankProblem shape;
  int page_tokens = 64;
  float softmax_scale = 1;
  std::uint64_t seed = 1;
  std::vector<std::int32_t> lengths;  ///< [batch], KV tokens of each request, query tokens included
  int pages_per_request = 0;          ///< columns of the page table
  std::int32_t page_count = 0;        ///< pages in the cache, those of nobody included
  std::vector<std::int32_t>
      page_table;  ///< [batch, pages_per_request], shuffled; kUnusedPage past the end
  ProblemSource source;
  /// [batch, query_tokens], tokens that each query token attends to, where the context is shared
  /// out and the rule above holds for the whole only.  Empty: the rule holds.
  std::vector<std::int32_t> ends;

  std::int64_t rows() const {
    return std::int64_t{1} * shape.batch * shape.query_tokens * shape.local_heads;
  }
  /// The request that an output row belongs to.
  int request_of(std::int64_t row) const {
    return static_cast<int>(row / (std::int64_t{1} * shape.query_tokens * shape.local_heads));
  }
  /// The row of the whole problem's query that a row of ours is.
  std::int64_t source_row(std::int64_t row) const;
  /// The page of the whole problem's cache that a page of ours is.
  std::int64_t source_page(std::int64_t page) const;
  std::int64_t length_sum() const;
  /// KV tokens that query token `token` of `request` attends to.
  std::int32_t attended(int request, int token) const;
};

/// Lengths by `shape.lengths` and `seed` (equal: all `context`; ragged: uniform in 0..context, the
/// first one `context` and the last one 0 when batch > 2), pages shuffled by the seed, softmax
/// scale 1 / sqrt(d_nope + d_rope) as the model's unabsorbed heads have it.
Problem make_problem(const RankProblem& shape, std::uint64_t seed, int page_tokens = 64);

/// The same with the lengths given.  lengths: [batch], each 0..shape.context.
Problem make_problem(const RankProblem& shape, std::vector<std::int32_t> lengths,
                     std::uint64_t seed, int page_tokens = 64);

/// Useful work of the attention core, by formula (design.md section 8): FLOPs and bytes count the
/// full KV length for each query token; every cached token is read once.
struct Work {
  double flops = 0;     ///< 2 x T x H x sum(L) x (d_qk + d_latent)
  double kv_bytes = 0;  ///< sum(L) x bytes of a cache row
  double qo_bytes = 0;  ///< B x T x H x (d_qk + d_latent) x 2

  double hbm_bytes() const { return kv_bytes + qo_bytes; }
};
Work work(const Problem& problem);

/// Bytes of one cached token: 2 x d_qk for bf16; d_latent + 4 x d_latent / 128 + 2 x d_rope for FP8
/// (656 for DeepSeek-V3).
std::int64_t cache_row_bytes(const RankProblem& shape);

/// Memory a launch needs: cache pages, query, output, LSE and the fp32 partials of splits.
double memory_bytes(const RankProblem& shape);

}  // namespace headsplit::kernels
