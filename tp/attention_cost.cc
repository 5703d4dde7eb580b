#include "tp/attention_cost.h"

#include <algorithm>
#include <cmath>

namespace headsplit::tp {
namespace {

constexpr double kFlopsPerPair = 2;  // a multiply and an add
/// Rows of one MMA tile, and how many tiles share a conversion through distributed shared memory.
/// Source: FlashMLA docs/20250929-hopper-fp8-sparse-deep-dive.md.
constexpr double kRowsPerConversion = 2 * 64;

double query_rows(const RankProblem& p) {
  return static_cast<double>(p.batch) * p.query_tokens * p.local_heads;
}

/// Pairs of (query row, cached token).
double pairs(const RankProblem& p) {
  return length_sum(p) * p.query_tokens * static_cast<double>(p.local_heads);
}

double expanded_width(const RankProblem& p) { return p.d_nope + p.d_rope + p.d_v; }

double conversions(const RankProblem& p, double tokens, double rows) {
  if (p.kv_dtype == KvDtype::bf16) return 0;
  return tokens * p.d_latent * std::ceil(rows / kRowsPerConversion);
}

double absorbed_width(const RankProblem& p) { return p.d_qk() + p.d_latent; }

}  // namespace

Work per_head_work(const RankProblem& p) {
  const double kv_bytes = kBf16Bytes * length_sum(p) * p.kv_heads * expanded_width(p);
  return {.flops = kFlopsPerPair * pairs(p) * expanded_width(p),
          .kv_bytes = kv_bytes,
          .qo_bytes = kBf16Bytes * query_rows(p) * expanded_width(p),
          .kv_memory_bytes = kv_bytes};
}

Work mla_dense_work(const RankProblem& p) {
  const double tokens = length_sum(p);
  const double kv_bytes = tokens * latent_row_bytes(p);
  return {.flops = kFlopsPerPair * pairs(p) * absorbed_width(p),
          .kv_bytes = kv_bytes,
          .qo_bytes = kBf16Bytes * query_rows(p) * absorbed_width(p),
          .dequant_values = conversions(p, tokens, 1.0 * p.local_heads * p.query_tokens),
          .kv_memory_bytes = kv_bytes};
}

Work mla_sparse_work(const RankProblem& p, double selected) {
  const double tokens = static_cast<double>(p.batch) * p.query_tokens * selected;
  return {.flops = kFlopsPerPair * tokens * p.local_heads * absorbed_width(p),
          .kv_bytes = tokens * latent_row_bytes(p),
          .qo_bytes = kBf16Bytes * query_rows(p) * absorbed_width(p),
          .dequant_values = conversions(p, tokens, p.local_heads),
          .kv_memory_bytes = length_sum(p) * latent_row_bytes(p)};
}

double selected_rows(int top_k, const RankProblem& problem, int cp) {
  const double whole = static_cast<double>(problem.context) * cp;
  return std::min(static_cast<double>(top_k), whole) / cp;
}

Work indexer_work(const Model& model, const RankProblem& p) {
  constexpr double kScaleBytes = 4;
  constexpr double kIndexBytes = 4;
  const double queries = static_cast<double>(p.batch) * p.query_tokens;
  const double keys = length_sum(p) / model.index_pool;
  const double width = static_cast<double>(model.index_heads) * model.index_dim;
  const double flops = kFlopsPerPair * keys * p.query_tokens * width;
  const double key_bytes = keys * (model.index_dim + kScaleBytes);
  const int top_k = p.top_k > 0 ? p.top_k : model.index_topk;
  const double chosen = std::min<double>(top_k, static_cast<double>(p.context));
  return {.flops = flops,
          .fp8_flops = flops,
          .kv_bytes = key_bytes,
          .qo_bytes = queries * (width + kIndexBytes * chosen),
          .kv_memory_bytes = key_bytes};
}

Work mla_expanded_work(const RankProblem& p, RopeKey rope) {
  const double per_head = rope == RopeKey::per_head ? expanded_width(p) : p.d_nope + p.d_v;
  const double shared = rope == RopeKey::per_head ? 0 : p.d_rope;
  const double kv_bytes = kBf16Bytes * length_sum(p) * (p.local_heads * per_head + shared);
  return {.flops = kFlopsPerPair * pairs(p) * expanded_width(p),
          .kv_bytes = kv_bytes,
          .qo_bytes = kBf16Bytes * query_rows(p) * expanded_width(p),
          .kv_memory_bytes = kv_bytes};
}

Work kv_expand_work(const RankProblem& p) {
  const double tokens = length_sum(p);
  const double latent_bytes = tokens * latent_row_bytes(p);
  const double expanded_bytes = kBf16Bytes * tokens * p.local_heads * expanded_width(p);
  return {.flops = kFlopsPerPair * tokens * p.local_heads * p.d_latent * (p.d_nope + p.d_v),
          .kv_bytes = latent_bytes + expanded_bytes,
          .kv_memory_bytes = latent_bytes};
}

Work expanded_in_one_pass_work(const RankProblem& p) {
  const Work expand = kv_expand_work(p);
  const Work attend = mla_expanded_work(p);
  return {.flops = expand.flops + attend.flops,
          .kv_bytes = expand.kv_bytes,
          .qo_bytes = attend.qo_bytes,
          .kv_memory_bytes = expand.kv_memory_bytes};
}

double absorb_flops(const RankProblem& p) {
  return kFlopsPerPair * query_rows(p) * p.d_latent * (p.d_nope + p.d_v);
}

Work causal_half(Work work) {
  work.flops /= 2;
  work.fp8_flops /= 2;
  return work;
}

}  // namespace headsplit::tp
