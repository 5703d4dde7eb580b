#pragma once

#include "tp/model.h"
#include "tp/work.h"

namespace headsplit::tp {

/// Costs of the attention core of one layer on one rank.  B batch, T query tokens, H local heads,
/// G local KV heads, L context; sum(L) = B x L for equal lengths.  Decode counts the full L for
/// every query token.  Sources: docs/model.md derives each; seeds cited there.

/// Per-head K and V (MHA, GQA, MQA).  d_k = d_nope + d_rope.
///   FLOPs 2 T H sum(L) (d_k + d_v);  KV bytes 2 sum(L) G (d_k + d_v);  Q+O 2 B T H (d_k + d_v)
Work per_head_work(const RankProblem& problem);

/// The absorbed form on the latent cache, as FlashMLA does it.  D = d_latent + d_rope.
///   FLOPs 2 T H sum(L) (D + d_latent);  KV bytes sum(L) c;  Q+O 2 B T H (D + d_latent)
/// FP8 rows are converted once for each pair of 64-row tiles (two CTAs share the conversion).
Work mla_dense_work(const RankProblem& problem);

/// The absorbed form on `selected` rows of each query token, chosen by an indexer.  Two query
/// tokens choose different rows, so each reads its own.
///   FLOPs 2 B T H k (D + d_latent);  KV bytes B T k c;  Q+O as mla_dense
Work mla_sparse_work(const RankProblem& problem, double selected);

/// Rows that a query token attends to: top_k, or all when there are fewer; with the context over cp
/// ranks, the mean share of one rank.
double selected_rows(int top_k, const RankProblem& problem, int cp);

/// The indexer of sparse attention: every index head against every index key, on each rank alike.
///   FLOPs 2 B T L' h d;  bytes B L' (d + 4) keys, B T h d queries, 4 B T k indices;
///   L' = L / index_pool
Work indexer_work(const Model& model, const RankProblem& problem);

/// How the expanded form keeps the RoPE key: copied into every head's K, or once for all heads.
enum class RopeKey { per_head, shared };

/// Attention over K and V that are already expanded and kept: every head has its own.
///   FLOPs 2 T H sum(L) (d_nope + d_rope + d_v);  KV bytes 2 sum(L) H (d_nope + d_rope + d_v)
Work mla_expanded_work(const RankProblem& problem, RopeKey rope = RopeKey::per_head);

/// Turning the latents of the whole context into per-head K and V.
///   FLOPs 2 sum(L) H d_latent (d_nope + d_v);  bytes sum(L) c read, 2 sum(L) H (d_k + d_v) written
Work kv_expand_work(const RankProblem& problem);

/// Expanding and attending in one pass, K and V counted once: the seeds' "MHA algorithm".
Work expanded_in_one_pass_work(const RankProblem& problem);

/// Projections that the absorbed form adds on the query's side, without their weights.
///   FLOPs 2 B T H d_latent (d_nope + d_v)
double absorb_flops(const RankProblem& problem);

/// The same work when the query tokens are the whole prompt (T = L): the causal half of the pairs.
Work causal_half(Work work);

}  // namespace headsplit::tp
