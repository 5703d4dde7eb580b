#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tp/roofline.h"
#include "tp/work.h"

namespace headsplit::tp {

/// One term of a cost formula, with the letters of the regime page: b batch, h heads, s query
/// tokens, d head width, k latent, p RoPE, o latent tokens, n expanded tokens, t = o + n.
struct CostTerm {
  std::string formula;
  double value = 0;

  bool operator==(const CostTerm&) const = default;
};

/// mla_mixed: the first o = L - n tokens of each request read as latents, the last n as expanded
/// K and V.  A part without tokens brings none of its query and output terms either, so that n = 0
/// is mla_dense and o = 0 is mla_expanded with a shared RoPE key.
///   FLOPs 2bhstp + 4bhsnd + 4bhsok
///   bytes 2 (bhsp + bhsd + bhsk + bok + btp + bhnd + bhnd + bhsd + bhsk)
/// d stands for d_nope in the terms of K and for d_v in those of V.
/// Source: the regime page, "MLAvar6+".
std::vector<CostTerm> mixed_flop_terms(const RankProblem& problem, std::int64_t expanded_tokens);
std::vector<CostTerm> mixed_byte_terms(const RankProblem& problem, std::int64_t expanded_tokens);
Work mla_mixed_work(const RankProblem& problem, std::int64_t expanded_tokens);

/// How many tokens to keep expanded, and what it comes to.
struct MixedChoice {
  std::int64_t expanded_tokens = 0;
  double time_us = 0;
};

/// The n that minimises the roofline time: an end, or where FLOPs (falling in n) and bytes (rising
/// in n) take the same time.
MixedChoice best_mixed(const RankProblem& problem, const Rates& rates);

}  // namespace headsplit::tp
