#include "tp/crossover.h"

#include <algorithm>

#include "tp/attention_cost.h"

namespace headsplit::tp {
namespace {

/// Widths of the derivation: A, and a - e.
struct SwitchWidths {
  double projection = 0;
  double difference = 0;
};

SwitchWidths switch_widths(const Model& m) {
  const double absorbed = 2.0 * m.d_latent + m.d_rope;
  const double expanded = 1.0 * m.d_nope + m.d_rope + m.d_v;
  return {1.0 * m.d_latent * (m.d_nope + m.d_v), absorbed - expanded};
}

std::vector<std::int64_t> counting_to(std::int64_t last) {
  std::vector<std::int64_t> counts;
  for (std::int64_t count = 1; count <= last; ++count) counts.push_back(count);
  return counts;
}

std::optional<std::int64_t> sparse_from(const Model& model, const Rates& rates) {
  if (model.index_topk == 0) return std::nullopt;
  constexpr std::int64_t kContextMax = std::int64_t{1} << 24;
  Rates without_floor = rates;
  without_floor.floor_us = 0;
  for (std::int64_t context = 256; context <= kContextMax; context += context / 64) {
    const RankProblem problem{.local_heads = model.heads,
                              .context = context,
                              .d_latent = model.d_latent,
                              .d_rope = model.d_rope};
    const double sparse_us =
        roofline(mla_sparse_work(problem, selected_rows(model.index_topk, problem, 1)),
                 without_floor)
            .time_us +
        roofline(indexer_work(model, problem), without_floor).time_us;
    if (sparse_us < roofline(mla_dense_work(problem), without_floor).time_us) return context;
  }
  return std::nullopt;
}

std::vector<std::int64_t> shown_query_tokens(std::int64_t context) {
  std::vector<std::int64_t> counts;
  for (std::int64_t count = 1; count < std::min<std::int64_t>(context, 2048); count *= 2) {
    counts.push_back(count);
  }
  counts.push_back(context);
  return counts;
}

}  // namespace

std::optional<double> flops_switch_query_tokens(const Model& model, std::int64_t context) {
  const SwitchWidths widths = switch_widths(model);
  if (widths.difference <= 0) return std::nullopt;
  const auto length = static_cast<double>(context);
  return length * widths.projection / (widths.projection + length * widths.difference);
}

std::optional<double> flops_switch_limit(const Model& model) {
  const SwitchWidths widths = switch_widths(model);
  if (widths.difference <= 0) return std::nullopt;
  return widths.projection / widths.difference;
}

SwitchPoint switch_point(const Model& model, std::int64_t context, const Rates& rates, int tp) {
  constexpr std::int64_t kQueryTokensMax = 2048;
  SwitchPoint point{.tp = tp, .local_heads = model.heads / tp};
  // The last number is left out: there the prompt is prefilled whole, which is another question.
  const auto counts =
      counting_to(std::min(kQueryTokensMax, std::max<std::int64_t>(1, context - 1)));
  for (const auto& row : regime_rows(model, point.local_heads, context, counts, rates)) {
    const double pure_us = std::min(row.mla_dense_us, row.mla_expanded_us);
    const auto note = [&](std::optional<std::int64_t>& first, bool holds) {
      if (holds && !first) first = row.query_tokens;
    };
    note(point.expanded_resident_from_query_tokens, row.mla_expanded_us < row.mla_dense_us);
    note(point.expanded_each_step_from_query_tokens, row.expand_and_attend_us < row.mla_dense_us);
    const bool mixed_wins = row.mla_mixed_us < kMixedWorthwhile * pure_us;
    note(point.mixed_from_query_tokens, mixed_wins);
    if (mixed_wins) point.mixed_to_query_tokens = row.query_tokens;
  }
  return point;
}

Result<Crossover> crossover(const Model& model, std::int64_t context,
                            const std::optional<Device>& device, const std::vector<int>& tp_sizes) {
  if (!model.is_mla()) {
    return fail(ErrorKind::config, "crossover: ", model.name,
                " has no latent, so there is nothing to absorb or expand");
  }
  Crossover answer{.model = model.name, .context = context};
  answer.flops_switch_query_tokens = flops_switch_query_tokens(model, context);
  answer.flops_switch_limit_query_tokens = flops_switch_limit(model);
  if (!device) return answer;
  const Rates rates = rates_of(*device);
  answer.device = device->name;
  answer.ridge_flop_per_byte = rates.ridge();
  answer.sparse_from_context = sparse_from(model, rates);
  for (const int tp : tp_sizes) {
    if (model.heads % tp != 0) {
      return fail(ErrorKind::config, "tp ", tp, " does not divide the ", model.heads, " heads of ",
                  model.name, "; legal: ", legal_tp_text(model));
    }
    answer.switch_points.push_back(switch_point(model, context, rates, tp));
  }
  answer.regimes = regime_rows(model, model.heads, context, shown_query_tokens(context), rates);
  return answer;
}

}  // namespace headsplit::tp
