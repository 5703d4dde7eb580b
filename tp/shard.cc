#include "tp/shard.h"

#include <algorithm>
#include <numeric>

#include "core/check.h"
#include "core/nearest.h"

namespace headsplit::tp {
namespace {

constexpr int kGroupsAssumed = 8;

bool needs_latent(const std::string& kernel) {
  return kernel.rfind("mla_", 0) == 0 || kernel == "kv_expand" || kernel == "dsa_indexer";
}

/// Kernels whose K and V are made from the latent, for each head.
bool expands_latent(const std::string& kernel) {
  return kernel == "mla_expanded" || kernel == "kv_expand";
}

Family family_of(const std::string& kernel) {
  if (kernel == "kv_expand") return Family::kv_expand;
  if (kernel == "mla_sparse") return Family::mla_sparse;
  if (kernel == "dsa_indexer") return Family::dsa_indexer;
  const bool per_head = kernel == "mha_decode" || kernel == "gqa_decode" ||
                        kernel == "mqa_decode" || kernel == "mla_expanded";
  return per_head ? Family::per_head : Family::mla_dense;
}

/// Heads of the cache on one rank: a KV head that several ranks share is on each of them.
int local_kv_heads(int kv_heads, int tp) { return std::max(1, kv_heads / tp); }

Result<void> check_sizes(const Point& point) {
  const auto positive = [](const char* name, std::int64_t value) -> Result<void> {
    if (value >= 1) return {};
    return fail(ErrorKind::config, name, " ", value, ": must be at least 1");
  };
  TRY(positive("tp", point.layout.tp));
  TRY(positive("dp", point.layout.dp));
  TRY(positive("cp", point.layout.cp));
  TRY(positive("batch", point.batch));
  TRY(positive("query_tokens", point.query_tokens));
  TRY(positive("context", point.context));
  if (point.context < point.query_tokens) {
    return fail(ErrorKind::config, "context ", point.context, ": holds the ", point.query_tokens,
                " query tokens of the request too, so it cannot be shorter");
  }
  return {};
}

Result<void> check_split(const Model& model, const Point& point, int kv_heads) {
  const Layout& layout = point.layout;
  const bool kv_splits = kv_heads % layout.tp == 0 || layout.tp % kv_heads == 0;
  if (model.heads % layout.tp != 0 || !kv_splits) {
    return fail(ErrorKind::config, "tp ", layout.tp, " does not divide the ", model.heads,
                " heads of ", model.name, "; legal: ", legal_tp_text(model));
  }
  if (layout.dp > point.batch) {
    return fail(ErrorKind::config, "dp ", layout.dp, " leaves ranks without a request: batch is ",
                point.batch);
  }
  if (layout.cp > point.context) {
    return fail(ErrorKind::config, "cp ", layout.cp, " leaves ranks without a token: context is ",
                point.context);
  }
  return {};
}

std::string models_with_indexer() {
  const auto names = model_names();
  std::vector<std::string> found;
  for (const std::string& name : names ? names.value() : std::vector<std::string>{}) {
    const auto model = read_model(name);
    if (model && model.value().index_topk > 0) found.push_back(name);
  }
  return joined(found);
}

Result<void> check_indexer(const Model& model, const Point& point) {
  if (!needs_indexer(point.kernel)) {
    if (point.top_k == 0) return {};
    return fail(ErrorKind::config, "top_k ", point.top_k, ": kernel ", point.kernel,
                " attends to all tokens; legal: 0, or mla_sparse, dsa_indexer");
  }
  if (model.index_topk > 0) return {};
  return no_indexer(model, point.kernel);
}

/// Of sparse kernels; a list is shared out as the context is.
Result<void> fill_indexer(const Model& model, const Point& point, int cp_index,
                          RankProblem& problem) {
  if (!needs_indexer(point.kernel)) return {};
  const int top_k = point_top_k(model, point);
  if (point.layout.cp > top_k) {
    return fail(ErrorKind::config, "cp ", point.layout.cp,
                " leaves ranks without a chosen token: top_k is ", top_k);
  }
  problem.top_k = static_cast<int>(share(top_k, point.layout.cp, cp_index));
  problem.index_heads = model.index_heads;
  problem.index_dim = model.index_dim;
  problem.index_pool = model.index_pool;
  if (problem.family == Family::dsa_indexer) problem.local_heads = model.index_heads;
  return {};
}

}  // namespace

bool needs_indexer(const std::string& kernel) {
  return kernel == "mla_sparse" || kernel == "dsa_indexer";
}

Error no_indexer(const Model& model, const std::string& kernel) {
  return fail(ErrorKind::config, "kernel ", kernel, " needs an indexer, and ", model.name,
              " has no index_topk; models that have one: ", models_with_indexer());
}

int point_top_k(const Model& model, const Point& point) {
  return point.top_k > 0 ? point.top_k : model.index_topk;
}

RankPlace rank_place(const Layout& layout, int rank) {
  CHECK(rank >= 0 && rank < layout.ranks());
  return {.tp_index = rank % layout.tp,
          .dp_index = rank / (layout.tp * layout.cp),
          .cp_index = rank / layout.tp % layout.cp};
}

std::int64_t share(std::int64_t total, int parts, int index) {
  CHECK(parts >= 1 && index >= 0 && index < parts);
  return total / parts + (index < total % parts ? 1 : 0);
}

std::int64_t share_begin(std::int64_t total, int parts, int index) {
  CHECK(parts >= 1 && index >= 0 && index <= parts);
  return total / parts * index + std::min<std::int64_t>(index, total % parts);
}

double share_imbalance(std::int64_t total, int parts) {
  if (total == 0) return 1;
  return static_cast<double>(share(total, parts, 0)) * parts / static_cast<double>(total);
}

std::vector<std::int64_t> length_sums(const std::vector<std::int64_t>& lengths, int dp) {
  const auto batch = static_cast<std::int64_t>(lengths.size());
  std::vector<std::int64_t> sums;
  for (int index = 0; index < dp; ++index) {
    const auto first = lengths.begin() + share_begin(batch, dp, index);
    const auto last = lengths.begin() + share_begin(batch, dp, index + 1);
    sums.push_back(std::accumulate(first, last, std::int64_t{0}));
  }
  return sums;
}

double length_imbalance(const std::vector<std::int64_t>& lengths, int dp) {
  const auto sums = length_sums(lengths, dp);
  const auto total = std::accumulate(sums.begin(), sums.end(), std::int64_t{0});
  if (total == 0) return 1;
  const auto largest = *std::max_element(sums.begin(), sums.end());
  return static_cast<double>(largest) * dp / static_cast<double>(total);
}

int kernel_kv_heads(const Model& model, const std::string& kernel) {
  if (kernel == "mha_decode" || expands_latent(kernel)) return model.heads;
  if (kernel == "mqa_decode" || needs_latent(kernel)) return 1;
  if (kernel != "gqa_decode") return model.kv_heads;
  if (model.attention == Attention::gqa) return model.kv_heads;
  int groups = std::min(kGroupsAssumed, model.heads);
  while (model.heads % groups != 0) --groups;
  return groups;
}

Result<RankProblem> rank_problem(const Model& model, const Point& point, int rank) {
  TRY(check_sizes(point));
  if (needs_latent(point.kernel) && !model.is_mla()) {
    return fail(ErrorKind::config, "kernel ", point.kernel, " needs a latent, and ", model.name,
                " has none; legal: mha_decode, gqa_decode, mqa_decode");
  }
  TRY(check_indexer(model, point));
  const int kv_heads = kernel_kv_heads(model, point.kernel);
  TRY(check_split(model, point, kv_heads));
  if (rank < 0 || rank >= point.layout.ranks()) {
    return fail(ErrorKind::config, "rank ", rank, ": ", layout_name(point.layout), " has ",
                point.layout.ranks(), " ranks, from 0");
  }
  const RankPlace place = rank_place(point.layout, rank);
  RankProblem problem;
  problem.local_heads = model.heads / point.layout.tp;
  problem.kv_heads = local_kv_heads(kv_heads, point.layout.tp);
  problem.batch = static_cast<int>(share(point.batch, point.layout.dp, place.dp_index));
  problem.query_tokens = point.query_tokens;
  problem.context = share(point.context, point.layout.cp, place.cp_index);
  problem.d_latent = model.d_latent;
  problem.d_rope = model.d_rope;
  problem.d_nope = model.d_nope;
  problem.d_v = model.d_v;
  problem.kv_dtype = point.kv_dtype;
  problem.lengths = point.lengths;
  problem.family = family_of(point.kernel);
  TRY(fill_indexer(model, point, place.cp_index, problem));
  return problem;
}

}  // namespace headsplit::tp
