#include "tp/regimes.h"

#include <algorithm>

#include "tp/attention_cost.h"
#include "tp/mixed_cost.h"

namespace headsplit::tp {
namespace {

RankProblem problem_of(const Model& model, int local_heads, std::int64_t context,
                       std::int64_t query_tokens) {
  return {.local_heads = local_heads,
          .query_tokens = static_cast<int>(query_tokens),
          .context = context,
          .d_latent = model.d_latent,
          .d_rope = model.d_rope,
          .d_nope = model.d_nope,
          .d_v = model.d_v};
}

std::string fastest_of(const RegimeRow& row) {
  const double pure_us = std::min(row.mla_dense_us, row.mla_expanded_us);
  if (row.mla_mixed_us < kMixedWorthwhile * pure_us) return "mla_mixed";
  return row.mla_expanded_us < row.mla_dense_us ? "mla_expanded" : "mla_dense";
}

RegimeRow row_of(const RankProblem& problem, const Rates& rates) {
  const bool prefill = problem.query_tokens == problem.context && problem.context > 1;
  const auto counted = [&](const Work& work) { return prefill ? causal_half(work) : work; };
  Work dense = counted(mla_dense_work(problem));
  Work expanded = counted(mla_expanded_work(problem));
  const Work expansion = kv_expand_work(problem);
  const double expansion_us = roofline(expansion, rates).time_us;
  if (prefill) dense.flops += absorb_flops(problem);
  MixedChoice mixed = best_mixed(problem, rates);
  RegimeRow row{.query_tokens = problem.query_tokens, .regime = regime_of(problem.query_tokens)};
  row.mla_dense_us = roofline(dense, rates).time_us;
  row.mla_expanded_us = roofline(expanded, rates).time_us + (prefill ? expansion_us : 0);
  // A whole prompt has no old tokens: nothing is left to keep as latents only.
  if (prefill) mixed = {problem.context, row.mla_expanded_us};
  row.mla_mixed_expanded_tokens = mixed.expanded_tokens;
  row.mla_mixed_us = mixed.time_us;
  row.expand_and_attend_us = roofline(expanded, rates).time_us + expansion_us;
  row.mla_dense_flop_per_byte = dense.intensity();
  row.mla_expanded_flop_per_byte = expanded.intensity();
  row.fastest = fastest_of(row);
  return row;
}

}  // namespace

Regime regime_of(std::int64_t query_tokens) {
  constexpr std::int64_t kSpeculativeMax = 32;
  constexpr std::int64_t kPrefillMin = 129;
  if (query_tokens <= 1) return Regime::decode;
  if (query_tokens <= kSpeculativeMax) return Regime::speculative;
  return query_tokens < kPrefillMin ? Regime::between : Regime::prefill;
}

std::vector<RegimeRow> regime_rows(const Model& model, int local_heads, std::int64_t context,
                                   const std::vector<std::int64_t>& query_tokens,
                                   const Rates& rates) {
  Rates without_floor = rates;
  without_floor.floor_us = 0;
  std::vector<RegimeRow> rows;
  for (const std::int64_t count : query_tokens) {
    rows.push_back(row_of(problem_of(model, local_heads, context, count), without_floor));
  }
  return rows;
}

}  // namespace headsplit::tp
