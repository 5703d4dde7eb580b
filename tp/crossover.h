#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tp/device.h"
#include "tp/regimes.h"

namespace headsplit::tp {

/// Query tokens S* at which absorbing and expanding anew cost the same FLOPs:
///   2 H (S A + S L a) = 2 H (L A + S L e), A = d_latent (d_nope + d_v), a = 2 d_latent + d_rope,
///   e = d_nope + d_rope + d_v  =>  S* = L A / (A + L (a - e))
/// Heads cancel, and so does the RoPE segment.  128 at L = 512, tending to A / (a - e) = 170.7 for
/// DeepSeek-V3 and Kimi K3.  Absent when a latent is no wider than the heads (a <= e).
std::optional<double> flops_switch_query_tokens(const Model& model, std::int64_t context);
std::optional<double> flops_switch_limit(const Model& model);

/// Where the kernels change places on a device, with the heads of one head-parallel rank.
struct SwitchPoint {
  int tp = 1;
  int local_heads = 0;
  /// Fewest query tokens from which K and V that are kept expanded beat the latent cache.
  std::optional<std::int64_t> expanded_resident_from_query_tokens;
  /// The same when K and V are expanded anew each step.
  std::optional<std::int64_t> expanded_each_step_from_query_tokens;
  /// Query tokens between which mla_mixed with its best n beats both by more than 5 %.
  std::optional<std::int64_t> mixed_from_query_tokens;
  std::optional<std::int64_t> mixed_to_query_tokens;

  bool operator==(const SwitchPoint&) const = default;
};
BOOST_DESCRIBE_STRUCT(SwitchPoint, (),
                      (tp, local_heads, expanded_resident_from_query_tokens,
                       expanded_each_step_from_query_tokens, mixed_from_query_tokens,
                       mixed_to_query_tokens))

/// By roofline, one request; batch cancels.  context: tokens a rank; tp: divides the heads.
/// Absent figures: not up to 2048 query tokens, or the context when it is shorter.
SwitchPoint switch_point(const Model& model, std::int64_t context, const Rates& rates, int tp);

/// The answer of `headsplit crossover`.
struct Crossover {
  std::string model;
  std::int64_t context = 0;
  std::optional<double> flops_switch_query_tokens;
  std::optional<double> flops_switch_limit_query_tokens;
  std::optional<std::string> device;
  std::optional<double> ridge_flop_per_byte;
  /// Context from which top-k sparse attention with its indexer beats dense, one query token.
  std::optional<std::int64_t> sparse_from_context;
  std::vector<SwitchPoint> switch_points;  ///< by tp; empty without a device
  std::vector<RegimeRow> regimes;          ///< on all heads; empty without a device

  bool operator==(const Crossover&) const = default;
};
BOOST_DESCRIBE_STRUCT(Crossover, (),
                      (model, context, flops_switch_query_tokens, flops_switch_limit_query_tokens,
                       device, ridge_flop_per_byte, sparse_from_context, switch_points, regimes))

/// Fails: config (the model has no latent; context below 1).
Result<Crossover> crossover(const Model& model, std::int64_t context,
                            const std::optional<Device>& device, const std::vector<int>& tp_sizes);

}  // namespace headsplit::tp
