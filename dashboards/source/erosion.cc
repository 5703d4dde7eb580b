#include "dashboards/source/dashboard.h"

namespace headsplit::dashboards {
namespace {

/// Head splits alone: neither requests nor context are divided.
const std::string kSplits = R"(@layout, dp="1", cp="1")";

std::string of_splits(const std::string& metric, const std::string& more = "") {
  return metric + "{" + kSplits + (more.empty() ? "" : ", " + more) + "}";
}

std::string by_tp(const std::string& metric, const std::string& more = "") {
  return "max by (tp) (" + of_splits(metric, more) + ")";
}

const std::string kRanks = "max by (tp) (" + of_splits("headsplit_layout_speedup_ratio") + " / " +
                           of_splits("headsplit_layout_efficiency_ratio") + ")";

Panel intensity_over_time() {
  return {
      .title = "Arithmetic intensity against the ridge",
      .description =
          "Useful FLOPs a byte of DRAM traffic in each split's latest row, by hardware "
          "counters and by formula. A split that is above its device's ridge is bound by "
          "compute, one below it by memory: head parallelism pushes them down, P-fold.",
      .width = 24,
      .height = 10,
      .queries = {{of_splits("headsplit_layout_intensity_flops_per_byte", R"(source="measured")"),
                   "TP {{tp}} measured"},
                  {of_splits("headsplit_layout_intensity_flops_per_byte", R"(source="model")"),
                   "TP {{tp}} model"},
                  {"max by (dtype) (agent:headsplit_agent_ridge_flops_per_byte:ratio{@all})",
                   "ridge {{dtype}}"}},
      .defaults = log_axis("FLOP per byte")};
}

std::vector<Panel> bars() {
  return {
      bars_by_tp(
          "Reuse retained",
          "Arithmetic intensity of the split over that of one rank alone: "
          "mean over the cells measured with both. 1 would be no erosion; an even split "
          "keeps 1/TP.",
          "percentunit",
          {{by_tp("headsplit_layout_reuse_retained_ratio", R"(source="measured")"), "measured"},
           {by_tp("headsplit_layout_reuse_retained_ratio", R"(source="model")"), "model"}}),
      bars_by_tp("Speed-up",
                 "Time of one rank alone over time of the split, mean over the cells "
                 "measured with both, beside the ideal: the number of ranks.",
                 "none",
                 {{by_tp("headsplit_layout_speedup_ratio"), "speed-up"}, {kRanks, "ideal"}}),
      bars_by_tp("Efficiency",
                 "Speed-up over the number of ranks: what each of them is still "
                 "worth.",
                 "percentunit", {{by_tp("headsplit_layout_efficiency_ratio"), "efficiency"}}),
      bars_by_tp("KV cache bytes read beyond one copy",
                 "What all ranks of the split read of the "
                 "KV cache beyond what one rank alone reads; one launch, one layer, latest cell.",
                 "decbytes", {{by_tp("headsplit_layout_kv_duplicated_bytes"), "duplicated"}}),
  };
}

Panel time_against_ideal() {
  return {.title = "Time against the ideal",
          .description =
              "Median time of one launch in each split's latest row, and what it would be if time "
              "fell as the work of a rank does. Rows follow the sweep: the shape changes too.",
          .unit = "s",
          .queries = {{of_splits("headsplit_layout_time_seconds"), "TP {{tp}}"},
                      {"headsplit_layout_time_seconds{@layout, dp=\"1\", cp=\"1\", tp=\"1\"}"
                       " / ignoring (tp) group_right () (" +
                           of_splits("headsplit_layout_speedup_ratio") + " / " +
                           of_splits("headsplit_layout_efficiency_ratio") + ")",
                       "TP {{tp}} ideal"}},
          .defaults = log_axis("time of one launch")};
}

Panel intensity_of_work() {
  return {.title = "Arithmetic intensity of all work",
          .description =
              "FLOPs over DRAM bytes of the rows stored in each interval, as a ratio of rates: "
              "weighted by work, so that large shapes count for more.",
          .queries = {{"sum by (tp) (rate(headsplit_kernel_flops_total{" + kSplits +
                           ", source=\"measured\"}[$__rate_interval])) / (sum by (tp) "
                           "(rate(headsplit_kernel_dram_read_bytes_total{" +
                           kSplits +
                           "}[$__rate_interval]) + "
                           "rate(headsplit_kernel_dram_written_bytes_total{" +
                           kSplits + "}[$__rate_interval])) > 0)",
                       "TP {{tp}} measured"},
                      {"sum by (tp) (rate(headsplit_kernel_flops_total{" + kSplits +
                           ", source=\"model\"}[$__rate_interval])) / (sum by (tp) "
                           "(rate(headsplit_kernel_model_bytes_total{" +
                           kSplits + "}[$__rate_interval])) > 0)",
                       "TP {{tp}} model"}},
          .defaults = log_axis("FLOP per byte")};
}

std::string by_layout(const std::string& metric, const std::string& more = "") {
  return "max by (tp, dp, cp) (" + metric + "{@layout" + (more.empty() ? "" : ", " + more) + "})";
}

Panel layouts_side_by_side() {
  const std::vector<Column> columns = {{"tp", "TP"},
                                       {"dp", "DP"},
                                       {"cp", "CP"},
                                       {"Value #A", "Speed-up"},
                                       {"Value #B", "Efficiency"},
                                       {"Value #C", "Reuse retained"},
                                       {"Value #D", "KV copies"},
                                       {"Value #E", "Cells"}};
  Panel panel{.title = "Layouts side by side",
              .description =
                  "Head, request and context parallelism and their mixtures, each "
                  "against one rank alone: means over the cells measured with both.",
              .type = "table",
              .queries = {{by_layout("headsplit_layout_speedup_ratio"), "", true},
                          {by_layout("headsplit_layout_efficiency_ratio"), "", true},
                          {by_layout("headsplit_layout_reuse_retained_ratio", R"(source="model")"),
                           "", true},
                          {by_layout("headsplit_layout_kv_duplication_ratio"), "", true},
                          {by_layout("headsplit_layout_cells"), "", true}},
              .transformations = joined_table(columns)};
  panel.defaults = {{"decimals", 2}};
  panel.overrides = {unit_of_column("Efficiency", "percentunit"),
                     unit_of_column("Reuse retained", "percentunit")};
  return panel;
}

}  // namespace

Dashboard erosion() {
  std::vector<Panel> panels = {intensity_over_time()};
  for (Panel& panel : bars()) panels.push_back(std::move(panel));
  panels.push_back(time_against_ideal());
  panels.push_back(intensity_of_work());
  panels.push_back(layouts_side_by_side());
  panels.back().width = 24;
  return {.uid = "headsplit-erosion",
          .title = "headsplit / Erosion",
          .description =
              "What splitting heads over ranks does to attention: intensity, reuse, "
              "speed-up and the bytes that are read twice.",
          .variables = layout_variables(),
          .panels = std::move(panels)};
}

}  // namespace headsplit::dashboards
