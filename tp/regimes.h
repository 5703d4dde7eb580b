#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tp/model.h"
#include "tp/roofline.h"

namespace headsplit::tp {

/// The regimes of the seeds by query tokens: 1 decode, 2..32 speculative, above 128 prefill; what
/// lies between has no name there.
enum class Regime { decode, speculative, between, prefill };
BOOST_DESCRIBE_ENUM(Regime, decode, speculative, between, prefill)

/// mla_mixed keeps expanded K and V beside the latent and merges two partial outputs, which its
/// formula leaves out: it counts as faster only below this part of the better pure kernel's time.
constexpr double kMixedWorthwhile = 0.95;

Regime regime_of(std::int64_t query_tokens);

/// Roofline times of the kernels at one number of query tokens: one request, one rank, one layer,
/// no launch floor, so that only their ratio matters.
struct RegimeRow {
  std::int64_t query_tokens = 1;
  Regime regime = Regime::decode;
  std::string fastest;         ///< of the three that keep what they need in memory
  double mla_dense_us = 0;     ///< absorbed, on the latent cache
  double mla_expanded_us = 0;  ///< K and V kept expanded
  double mla_mixed_us = 0;     ///< with the n below
  std::int64_t mla_mixed_expanded_tokens = 0;
  double expand_and_attend_us = 0;  ///< K and V expanded anew each step
  double mla_dense_flop_per_byte = 0;
  double mla_expanded_flop_per_byte = 0;

  bool operator==(const RegimeRow&) const = default;
};
BOOST_DESCRIBE_STRUCT(RegimeRow, (),
                      (query_tokens, regime, fastest, mla_dense_us, mla_expanded_us, mla_mixed_us,
                       mla_mixed_expanded_tokens, expand_and_attend_us, mla_dense_flop_per_byte,
                       mla_expanded_flop_per_byte))

/// One row for each number of query tokens, on `heads` local heads at `context`.  As many query
/// tokens as context is a prefill: its causal half counts, and so do the projections of each side.
std::vector<RegimeRow> regime_rows(const Model& model, int local_heads, std::int64_t context,
                                   const std::vector<std::int64_t>& query_tokens,
                                   const Rates& rates);

}  // namespace headsplit::tp
