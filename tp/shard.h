#pragma once

#include "core/point.h"
#include "core/rank_problem.h"
#include "tp/model.h"

namespace headsplit::tp {

/// Place of a rank in its layout.  Ranks are numbered with tp running fastest, then cp, then dp:
/// rank = (dp_index x cp + cp_index) x tp + tp_index, so that head groups are neighbours.
struct RankPlace {
  int tp_index = 0;
  int dp_index = 0;
  int cp_index = 0;

  bool operator==(const RankPlace&) const = default;
};
RankPlace rank_place(const Layout& layout, int rank);

/// Share `index` of `total` things in `parts`: the first total % parts shares get one more.
std::int64_t share(std::int64_t total, int parts, int index);

/// Largest share over the mean: 1 when it divides evenly.  Time follows the largest.
double share_imbalance(std::int64_t total, int parts);

/// Where the request that `dp_index` starts with is, so that shares of a batch are consecutive.
std::int64_t share_begin(std::int64_t total, int parts, int index);

/// Summed KV lengths of each dp share of a batch.  lengths: [batch], tokens.
std::vector<std::int64_t> length_sums(const std::vector<std::int64_t>& lengths, int dp);

/// Largest of those sums over their mean: what a ragged batch costs data parallelism.  1 when
/// every sum is 0.
double length_imbalance(const std::vector<std::int64_t>& lengths, int dp);

/// KV heads of the cache that `kernel` reads (kv_expand: writes) for this model: 1 for the latent
/// kernels and mqa_decode, all heads for mha_decode, mla_expanded and kv_expand, the model's own
/// for gqa_decode (8 groups, or the largest divisor of the heads below, when the model has no
/// groups).
int kernel_kv_heads(const Model& model, const std::string& kernel);

/// Whether each query token attends to a list of tokens that an indexer chose: mla_sparse, and
/// dsa_indexer, which makes it.
bool needs_indexer(const std::string& kernel);

/// Why the kernel cannot run for a model that has none, with the models that do.
Error no_indexer(const Model& model, const std::string& kernel);

/// Tokens that each query token keeps: the point's, or the model's own.
int point_top_k(const Model& model, const Point& point);

/// The problem of one rank of a point: heads / tp, and its share of batch and context (rank 0 has
/// the largest).  Fails: config (tp does not divide the heads: lists the sizes that do; a share
/// would be empty; the kernel needs a latent or an indexer that the model has not; a top_k of a
/// dense kernel; a size below 1).  The indexer is replicated: every tp rank has all its heads.
Result<RankProblem> rank_problem(const Model& model, const Point& point, int rank = 0);

}  // namespace headsplit::tp
