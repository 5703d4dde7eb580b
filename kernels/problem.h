#pragma once

#include <cstdint>
#include <vector>

#include "core/rank_memory.h"
#include "core/rank_problem.h"

namespace headsplit::kernels {

/// A page-table entry that no request uses.  Kernels must never read through one.
constexpr std::int32_t kUnusedPage = -1;

/// Where the inputs of a rank's problem are in those of the whole problem, so that the ranks of a
/// layout compute parts of one attention.  By default the problem is whole itself.
struct ProblemSource {
  int heads = 0;                    ///< of the whole problem; 0 = this problem is whole
  int kv_heads = 1;                 ///< of the whole problem: what its K and V are laid out by
  int first_head = 0;               ///< this problem's first, in the whole
  int first_request = 0;            ///< likewise
  std::vector<std::int32_t> pages;  ///< [page_count], the page of the whole that each is
};

/// A rank problem made concrete: KV lengths drawn and the paged cache laid out.  H = local_heads,
/// G = kv_heads, T = query_tokens; all inputs bf16 (mla_dense's cache may be FP8).
///   mla_dense  query [batch, T, H, d_qk]; cache [page_count, page_tokens, d_qk];
///              output [batch, T, H, d_latent]
///   per_head   query [batch, T, H, d_k]; K [page_count, G, page_tokens, d_k]; V [page_count, G,
///              page_tokens, d_v]; output [batch, T, H, d_v]; d_k = d_nope + d_rope; query head h
///              reads KV head h / (H / G)
///   kv_expand  latent cache as mla_dense's, W_UK [H, d_nope, d_latent], W_UV [H, d_v, d_latent];
///              output K and V as per_head's with G = H; its output rows are [tokens of all
///              requests in order, H, d_k + d_v], LSE 0
///   mla_sparse as mla_dense, but query token t of a request attends to the first top_k_lengths
///              entries of its index list
///   dsa_indexer  query [batch, T, index_heads, index_dim] and cache of index keys, e4m3; output
///              [batch, T, top_k] slots; an output row is a list of scores
///              (dsa_indexer/reference.h)
/// Attention writes bf16 on CUDA and fp32 on the CPU; LSE [batch, T, H] fp32, natural logarithm.
/// Query token t of a request with KV length n attends to the first n - (T - 1 - t) tokens
/// (design.md section 8); a row that attends to nothing has output 0 and LSE -infinity.
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
  /// mla_sparse: [batch, query_tokens, top_k], slots of the cache (page x page_tokens + offset)
  /// that each query token attends to, in any order.  -1 and whatever is no slot of the cache may
  /// stand anywhere, and counts for nothing.
  std::vector<std::int32_t> indices;
  /// mla_sparse: [batch, query_tokens], entries of each list; those past them are never read
  /// through.
  std::vector<std::int32_t> top_k_lengths;
  /// mla_sparse: [local_heads], a score that each head has besides those of its tokens, in the
  /// denominator of its outputs only (the LSE is of the tokens alone).  Empty: none.
  std::vector<float> sinks;

  /// Output rows; of kv_expand, the sum of lengths x H; of dsa_indexer, batch x T.
  std::int64_t rows() const;
  /// The request that an output row belongs to.
  int request_of(std::int64_t row) const;
  /// The KV head of the whole problem that a KV head of ours is.
  int source_kv_head(int kv_head) const;
  /// The row of the whole problem's query that a row of ours is.
  std::int64_t source_row(std::int64_t row) const;
  /// The page of the whole problem's cache that a page of ours is.
  std::int64_t source_page(std::int64_t page) const;
  std::int64_t length_sum() const;
  /// KV tokens that query token `token` of `request` attends to; those an index list is drawn from.
  std::int32_t attended(int request, int token) const;
  std::int64_t slot_count() const { return std::int64_t{page_count} * page_tokens; }
  /// mla_sparse: the slots that count of a query token's list, in order.
  std::vector<std::int32_t> chosen_slots(int request, int token) const;
};

/// Lengths by `shape.lengths` and `seed` (equal: all `context`; ragged: uniform in 0..context, the
/// first one `context` and the last one 0 when batch > 2), pages shuffled by the seed, softmax
/// scale 1 / sqrt(d_nope + d_rope) as the model's unabsorbed heads have it.  mla_sparse: the lists
/// are distinct tokens that the query token attends to, as many as there are up to top_k, shuffled
/// by the seed; entries past them repeat a token.
Problem make_problem(const RankProblem& shape, std::uint64_t seed, int page_tokens = 64);

/// The same with the lengths given.  lengths: [batch], each 0..shape.context.
Problem make_problem(const RankProblem& shape, std::vector<std::int32_t> lengths,
                     std::uint64_t seed, int page_tokens = 64);

/// Useful work by formula (design.md section 8): FLOPs and bytes count the full KV length for each
/// query token, and of a per_head prefill (T = context > 1) what each token attends to; every
/// cached token is read once.  mla_sparse: L is the length of a query token's list, whose tokens
/// are read once for each query token.
struct Work {
  double flops = 0;     ///< attention: 2 x T x H x sum(L) x (query width + output width)
  double kv_bytes = 0;  ///< sum(L) x bytes of a cache row; of kv_expand those written, too
  double qo_bytes = 0;  ///< B x T x H x (query width + output width) x 2; kv_expand: 0

  double hbm_bytes() const { return kv_bytes + qo_bytes; }
};
Work work(const Problem& problem);

using headsplit::cache_row_bytes;
using headsplit::memory_bytes;

}  // namespace headsplit::kernels
