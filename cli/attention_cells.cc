#include "cli/attention_cells.h"

#include <cstdio>

namespace headsplit::cli {
namespace {

std::string figure_or_none(const std::optional<double>& value) {
  if (!value) return "-";
  char text[64];
  std::snprintf(text, sizeof text, *value >= 1e4 ? "%.0f" : "%.4g", *value);
  return text;
}

std::string percent(const std::optional<double>& part) {
  if (!part) return "-";
  char text[64];
  std::snprintf(text, sizeof text, "%.1f %%", *part * 100);
  return text;
}

}  // namespace

std::vector<std::vector<std::string>> attention_cells(
    std::span<const coordinator::AttentionLine> lines) {
  if (lines.empty()) return {};
  std::vector<std::vector<std::string>> cells = {
      {"model", "batch", "query tokens", "context", "structure", "tp", "heads", "KV heads", "limit",
       "with Q and O", "measured", "of model", "reuse retained", "time us", "GB/s"}};
  for (const auto& line : lines) {
    cells.push_back({line.model, str(line.batch), str(line.query_tokens), str(line.context),
                     line.structure, str(line.tp), str(line.local_heads), str(line.local_kv_heads),
                     figure_or_none(line.intensity_limit_flop_per_byte),
                     figure_or_none(line.intensity_model_flop_per_byte),
                     figure_or_none(line.intensity_measured_flop_per_byte),
                     percent(line.measured_over_model), percent(line.reuse_retained),
                     figure_or_none(line.time_us), figure_or_none(line.gbps)});
  }
  return cells;
}

std::string attention_note() {
  return "FLOP a byte of one rank. Limit: 1 for MHA, Hq/Hkv for GQA, Hq for MQA, 2 Hq for MLA (x "
         "query tokens), for long contexts; with Q and O: the whole formula; measured: by DRAM "
         "counters.";
}

}  // namespace headsplit::cli
