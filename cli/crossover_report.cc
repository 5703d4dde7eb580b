#include "cli/crossover_report.h"

#include "cli/model_options.h"
#include "cli/table.h"

namespace headsplit::cli {
namespace {

using Cells = std::vector<std::vector<std::string>>;

std::string count_or_never(const std::optional<std::int64_t>& value) {
  return value ? str(*value) : std::string("-");
}

std::string flops_part(const tp::Crossover& answer) {
  if (!answer.flops_switch_query_tokens) {
    return "The latent is no wider than the heads: absorbing never costs more FLOPs.\n";
  }
  return str("By FLOPs, expanding K and V anew overtakes absorbing at ",
             figure(*answer.flops_switch_query_tokens, 4),
             " query tokens (limit for long contexts ",
             figure(*answer.flops_switch_limit_query_tokens, 4), "), whatever the heads.\n");
}

std::string switch_table(const tp::Crossover& answer) {
  Cells cells = {
      {"tp", "heads", "expanded kept from", "expanded anew from", "mixed from", "mixed to"}};
  for (const auto& point : answer.switch_points) {
    cells.push_back({str(point.tp), str(point.local_heads),
                     count_or_never(point.expanded_resident_from_query_tokens),
                     count_or_never(point.expanded_each_step_from_query_tokens),
                     count_or_never(point.mixed_from_query_tokens),
                     count_or_never(point.mixed_to_query_tokens)});
  }
  return table_text(cells);
}

std::string regime_table(const tp::Crossover& answer) {
  Cells cells = {{"query tokens", "regime", "best kernel", "absorbed us", "expanded us", "mixed us",
                  "mixed keeps", "anew us", "absorbed FLOP/B", "expanded FLOP/B"}};
  for (const auto& row : answer.regimes) {
    cells.push_back({str(row.query_tokens), enum_name(row.regime), row.fastest,
                     figure(row.mla_dense_us), figure(row.mla_expanded_us),
                     figure(row.mla_mixed_us), str(row.mla_mixed_expanded_tokens),
                     figure(row.expand_and_attend_us), figure(row.mla_dense_flop_per_byte),
                     figure(row.mla_expanded_flop_per_byte)});
  }
  return table_text(cells);
}

}  // namespace

Result<tp::Crossover> make_crossover(const CrossoverRequest& request) {
  const tp::Model model = TRY(tp::read_model(request.model));
  std::optional<tp::Device> device;
  if (!request.device.empty()) device = TRY(tp::read_device(request.device));
  return tp::crossover(model, request.context, device, request.tp_sizes);
}

std::string crossover_text(const tp::Crossover& answer) {
  std::string text = str(answer.model, ", context ", answer.context, "\n", flops_part(answer));
  if (!answer.device) return text + "Give --device for times.\n";
  text += str("\nOn ", *answer.device, " (ridge ", figure(*answer.ridge_flop_per_byte, 3),
              " FLOP/B), fewest query tokens from which a kernel beats the absorbed one:\n\n",
              switch_table(answer), "\nOne request, all heads, roofline time of one layer:\n\n",
              regime_table(answer));
  if (answer.sparse_from_context) {
    text += str("\nTop-k sparse attention with its indexer pays from a context of about ",
                *answer.sparse_from_context, " tokens.\n");
  }
  return text;
}

}  // namespace headsplit::cli
