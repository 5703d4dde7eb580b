#pragma once

#include <prometheus/metric_type.h>

#include <string>
#include <string_view>
#include <vector>

namespace headsplit::coordinator {

/// Every metric that a coordinator exports, in the order of its exposition.
enum class Metric {
  build_info,
  process_start_time,
  process_resident_memory,
  process_cpu,
  series_omitted,
  sweeps,
  sweep_info,
  points,
  points_resumed,
  queue_points,
  leases,
  attempts,
  attempt_failures,
  rows,
  rows_rejected,
  store_commit_duration,
  store_queued,
  agents,
  agents_held_back,
  node_drains,
  points_condemned,
  layout_time,
  layout_batch,
  layout_query_tokens,
  layout_context,
  layout_intensity,
  layout_flop_rate,
  layout_byte_rate,
  layout_roofline,
  layout_cells,
  layout_speedup,
  layout_efficiency,
  layout_reuse_retained,
  layout_kv_duplication,
  layout_kv_duplicated_bytes,
  kernel_duration,
  kernel_flops,
  kernel_dram_read,
  kernel_dram_written,
  kernel_model_bytes,
  kernel_tensor_ops,
  agent_info,
  agent_last_heartbeat,
  agent_busy,
  agent_memory,
  agent_rows,
  agent_throttled_rows,
  agent_counters_available,
  agent_read_ceiling,
  agent_flop_ceiling,
  gpu_sm_clock,
  gpu_memory_clock,
  gpu_power,
  gpu_temperature,
  gpu_energy,
  gpu_throttled,
};

/// What a metric is called and means.  The code that exports it, the list in docs/observability.md
/// and the checks of dashboards and rules all read this one table.
struct MetricSpec {
  Metric metric;
  std::string_view name;
  prometheus::MetricType type;
  std::string_view unit;  ///< base unit; empty for a plain number or a count of the name's noun
  std::string_view help;  ///< one line
  std::vector<std::string_view> labels;
};

/// In the order of `Metric`.
const std::vector<MetricSpec>& metric_table();

const MetricSpec& spec_of(Metric metric);

/// "gauge", "counter" or "histogram".
std::string_view type_name(prometheus::MetricType type);

/// The table as a Markdown table, for docs/observability.md.
std::string metrics_markdown();

}  // namespace headsplit::coordinator
