#include "cli/crossover_answer.h"
#include "cli/model_options.h"
#include "cli/table.h"

/// Measured crossovers as people see them.
namespace headsplit::cli {
namespace {

using coordinator::FormSwitch;
using coordinator::Turns;

std::string at_text(const std::optional<FormSwitch>& found) {
  if (!found) return "-";
  switch (found->turns) {
    case Turns::at: return figure(*found->query_tokens, 3);
    case Turns::always: return "always";
    case Turns::never: return "never";
  }
  return "";
}

/// The two measured values that the crossing lies between, or the series without one.
std::string bracket_text(const std::optional<FormSwitch>& found) {
  if (!found) return "-";
  return str(found->low, "..", found->high, found->slower_again ? "*" : "");
}

std::string count_text(const std::optional<std::int64_t>& count) {
  return count ? str(*count) : "never";
}

std::string heading_of(const ComparedCrossover& line) {
  std::string text = str(line.model, " on ", line.device, ", build ", line.build, ": batch ",
                         line.batch, ", bf16, L2 ", enum_name(line.l2));
  if (line.lengths == Lengths::ragged) text += ", ragged lengths";
  if (line.ranks == Ranks::real) text += ", real ranks";
  if (!line.read_gbps) return text + "\n";
  return str(text, "; roofs ", figure(*line.read_gbps), " GB/s and ", figure(*line.bf16_tflops),
             " TFLOP/s (", line.roofs_from == Provenance::measured ? "measured" : "data sheet",
             ")\n");
}

std::string table_of(const std::vector<ComparedCrossover>& lines, bool& starred) {
  std::vector<std::vector<std::string>> cells = {{"context", "tp", "heads", "kept from", "in",
                                                  "roofline", "anew from", "in", "roofline",
                                                  "by FLOPs"}};
  for (const ComparedCrossover& line : lines) {
    if (!line.kept && !line.anew) continue;
    const bool has_roofs = line.read_gbps.has_value();
    cells.push_back(
        {str(line.context), str(line.tp), str(line.local_heads), at_text(line.kept),
         bracket_text(line.kept), has_roofs ? count_text(line.kept_roofline_query_tokens) : "-",
         at_text(line.anew), bracket_text(line.anew),
         has_roofs ? count_text(line.anew_roofline_query_tokens) : "-",
         line.anew_flops_query_tokens ? figure(*line.anew_flops_query_tokens, 3) : "-"});
    for (const auto& form : {line.kept, line.anew}) {
      starred = starred || (form && form->slower_again);
    }
  }
  return table_text(cells);
}

}  // namespace

std::string measured_text(const std::vector<CrossoverGroup>& groups) {
  std::string text =
      "Query tokens from which a form is faster than the absorbed one (mla_dense): K and V kept\n"
      "expanded (mla_expanded), or expanded anew each step (kv_expand, then mla_expanded).\n";
  bool starred = false;
  for (const CrossoverGroup& group : groups) {
    const std::string table = table_of(group.lines, starred);
    const bool any = std::any_of(group.lines.begin(), group.lines.end(),
                                 [](const auto& line) { return line.kept || line.anew; });
    if (!any) continue;
    text += "\n" + heading_of(group.lines.front()) + "\n" + table;
    if (!group.statements.empty()) text += "\n";
    for (const std::string& statement : group.statements) text += "- " + statement + "\n";
  }
  text += "\nin: the two measured query tokens that it lies between, on logarithmic scales.\n";
  if (starred) text += "*: the absorbed form is faster again at a larger number.\n";
  return text;
}

}  // namespace headsplit::cli
