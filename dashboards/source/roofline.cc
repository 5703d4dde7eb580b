#include "dashboards/source/dashboard.h"

namespace headsplit::dashboards {
namespace {

constexpr const char* kIntensity =
    "max by (tp, dp, cp) (headsplit_layout_intensity_flops_per_byte{@layout, source=\"measured\"})"
    " or "
    "max by (tp, dp, cp) (headsplit_layout_intensity_flops_per_byte{@layout, source=\"model\"})";
constexpr const char* kAchieved =
    "max by (tp, dp, cp) (headsplit_layout_flops_per_second{@layout})";
constexpr const char* kAttainable =
    "max by (tp, dp, cp) (headsplit_layout_flops_per_second{@layout} / "
    "(headsplit_layout_roofline_ratio{@layout} > 0))";

/// One frame a layout, so that each has its colour; x is the first number of a frame.
json::array points_by_layout() {
  json::array steps = joined_table({{"tp", "tp"},
                                    {"dp", "dp"},
                                    {"cp", "cp"},
                                    {"Value #A", "Intensity"},
                                    {"Value #B", "Achieved"},
                                    {"Value #C", "Attainable"}});
  steps.push_back({{"id", "partitionByValues"},
                   {"options",
                    {{"fields", {"tp", "dp", "cp"}},
                     {"keepFields", false},
                     {"naming", {{"asLabels", true}}}}}});
  return steps;
}

json::object log_scale(const std::string& label) {
  return {{"axisLabel", label},
          {"show", "points"},
          {"pointSize", {{"fixed", 10}}},
          {"scaleDistribution", {{"type", "log"}, {"log", 10}}}};
}

Panel roofline_plot() {
  const json::array x_axis = {
      {{"id", "unit"}, {"value", "none"}},
      {{"id", "custom.axisLabel"}, {"value", "Arithmetic intensity (FLOP per byte)"}}};
  return {.title = "Roofline",
          .description =
              "FLOP/s over arithmetic intensity in each layout's latest row: achieved, and "
              "attainable by the device's measured ceilings at that intensity. Intensity is by "
              "hardware counters where there are any, else by formula.",
          .type = "xychart",
          .unit = "flops",
          .width = 24,
          .height = 14,
          .queries = {{kIntensity, "", true}, {kAchieved, "", true}, {kAttainable, "", true}},
          .defaults = {{"custom", log_scale("FLOP/s")}},
          .options = {{"mapping", "auto"},
                      {"series", json::array()},
                      {"legend",
                       {{"showLegend", true},
                        {"displayMode", "list"},
                        {"placement", "right"},
                        {"calcs", json::array()}}},
                      {"tooltip", {{"mode", "single"}, {"sort", "none"}}}},
          .overrides = {{{"matcher", {{"id", "byName"}, {"options", "Intensity"}}},
                         {"properties", x_axis}}},
          .transformations = points_by_layout()};
}

constexpr const char* kLayoutLegend = "TP {{tp}} DP {{dp}} CP {{cp}}";

std::string quantile(const std::string& fraction) {
  return "histogram_quantile(" + fraction +
         ", sum by (le, tp, dp, cp) (rate(headsplit_kernel_duration_seconds_bucket{@layout}"
         "[$__rate_interval])))";
}

std::vector<Panel> details() {
  const std::string layout = kLayoutLegend;
  return {
      {.title = "Fraction of the roofline",
       .description = "What each layout's latest row reaches of what its intensity allows on this "
                      "device.",
       .unit = "percentunit",
       .queries = {{"headsplit_layout_roofline_ratio{@layout}", layout}},
       .defaults = linear_axis("of the roofline")},
      {.title = "FLOP/s against the ceilings",
       .description = "Useful FLOP/s of each layout's latest row, and the matmul ceilings that "
                      "agents measured on their own devices.",
       .unit = "flops",
       .queries = {{"headsplit_layout_flops_per_second{@layout}", layout},
                   {"max by (dtype) (headsplit_agent_ceiling_flops_per_second{@all})",
                    "ceiling {{dtype}}"}},
       .defaults = log_axis("FLOP/s")},
      {.title = "DRAM traffic against the ceiling",
       .description = "Bytes a second of each layout's latest row, by hardware counters and by "
                      "formula, and the streaming-read ceiling.",
       .unit = "Bps",
       .queries = {{"headsplit_layout_bytes_per_second{@layout, source=\"measured\"}",
                    layout + " measured"},
                   {"headsplit_layout_bytes_per_second{@layout, source=\"model\"}",
                    layout + " model"},
                   {"max(headsplit_agent_read_ceiling_bytes_per_second{@all})", "read ceiling"}},
       .defaults = log_axis("bytes per second")},
      {.title = "Time of one launch",
       .description = "Median over the rows stored in each interval. A dot is one row: it links to "
                      "the row's page.",
       .unit = "s",
       .queries = {{quantile("0.5"), layout, false, true}},
       .defaults = log_axis("time of one launch")},
      {.title = "Tensor operations per useful FLOP",
       .description = "Tensor-core work that the hardware counted over useful FLOPs by formula: "
                      "above 1 is padding.",
       .queries = {{"sum by (tp, dp, cp) (rate(headsplit_kernel_tensor_ops_total{@layout}"
                    "[$__rate_interval])) / (sum by (tp, dp, cp) "
                    "(rate(headsplit_kernel_flops_total{@layout, source=\"measured\"}"
                    "[$__rate_interval])) > 0)",
                    layout}},
       .defaults = linear_axis("operations per FLOP")},
      {.title = "Shape of the latest row",
       .description = "What the latest figures of each layout were measured on.",
       .type = "table",
       .queries = {{"max by (tp, dp, cp) (headsplit_layout_batch_requests{@layout})", "", true},
                   {"max by (tp, dp, cp) (headsplit_layout_query_tokens{@layout})", "", true},
                   {"max by (tp, dp, cp) (headsplit_layout_context_tokens{@layout})", "", true}},
       .transformations = joined_table({{"tp", "TP"},
                                        {"dp", "DP"},
                                        {"cp", "CP"},
                                        {"Value #A", "Batch"},
                                        {"Value #B", "Query tokens"},
                                        {"Value #C", "Context"}})},
  };
}

}  // namespace

Dashboard roofline() {
  std::vector<Panel> panels = {roofline_plot()};
  for (Panel& panel : details()) panels.push_back(std::move(panel));
  return {.uid = "headsplit-roofline",
          .title = "headsplit / Roofline",
          .description = "How close each layout comes to what its device can do.",
          .variables = layout_variables(),
          .panels = std::move(panels)};
}

}  // namespace headsplit::dashboards
