#include "coordinator/metrics/metric_table.h"

#include <algorithm>

#include "core/check.h"
#include "core/result.h"

namespace headsplit::coordinator {
namespace {

using prometheus::MetricType;
using Text = std::string_view;

constexpr Text kNone = "";
/// What tells layouts of a model's attention apart.  Shapes are not labels: rows have them.
constexpr Text kLayout = "model,kernel,kv_dtype,tp,dp,cp";
constexpr Text kLayoutSource = "model,kernel,kv_dtype,tp,dp,cp,source";
constexpr Text kGpu = "agent,gpu_uuid";

std::vector<Text> split(Text list) {
  std::vector<Text> parts;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    parts.push_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return parts;
}

MetricSpec gauge(Metric metric, Text name, Text unit, Text help, Text labels) {
  return {metric, name, MetricType::Gauge, unit, help, split(labels)};
}

MetricSpec counter(Metric metric, Text name, Text unit, Text help, Text labels) {
  return {metric, name, MetricType::Counter, unit, help, split(labels)};
}

MetricSpec histogram(Metric metric, Text name, Text unit, Text help, Text labels) {
  return {metric, name, MetricType::Histogram, unit, help, split(labels)};
}

const std::vector<MetricSpec> kTable = {
    // The coordinator itself, its sweeps and its store.
    gauge(Metric::build_info, "headsplit_build_info", "", "1; what this coordinator is.",
          "version,revision"),
    gauge(Metric::process_start_time, "process_start_time_seconds", "seconds",
          "When this process began, Unix time.", kNone),
    gauge(Metric::process_resident_memory, "process_resident_memory_bytes", "bytes",
          "Memory of this process that is resident.", kNone),
    counter(Metric::process_cpu, "process_cpu_seconds_total", "seconds",
            "CPU time of this process.", kNone),
    counter(Metric::series_omitted, "headsplit_metrics_series_omitted_total", "",
            "Series that --metrics-series-max left out, summed over all scrapes.", kNone),
    gauge(Metric::sweeps, "headsplit_sweeps", "",
          "Sweeps that this coordinator knows, by state (running, finished).", "state"),
    gauge(Metric::sweep_info, "headsplit_sweep_info", "",
          "1; the current sweep: the one that is served, or the last one served. plan: its id.",
          "sweep,plan,backend"),
    gauge(Metric::points, "headsplit_points", "",
          "Points of the current sweep by state (pending, running, storing, ok, failed, skipped, "
          "cancelled).",
          "state"),
    gauge(Metric::points_resumed, "headsplit_points_resumed", "",
          "Points of the current sweep whose rows an earlier run left.", kNone),
    gauge(Metric::queue_points, "headsplit_queue_points", "",
          "Points of all sweeps that wait for an agent.", kNone),
    gauge(Metric::leases, "headsplit_leases", "", "Points that agents work on.", kNone),
    counter(Metric::attempts, "headsplit_attempts_total", "", "Leases granted to agents.", kNone),
    counter(
        Metric::attempt_failures, "headsplit_attempt_failures_total", "",
        "Attempts that ended without a row and were given back to the queue (lost: the agent went "
        "away; expired: its deadline passed; failed: it said so and another try may help).",
        "reason"),
    counter(Metric::rows, "headsplit_rows_total", "",
            "Rows stored, by status (ok, failed, skipped, cancelled).", "status"),
    counter(Metric::rows_rejected, "headsplit_rows_rejected_total", "",
            "Reports that gave no row (stale: of a superseded attempt; duplicate: sent again; "
            "invalid: of no known point).",
            "reason"),
    histogram(Metric::store_commit_duration, "headsplit_store_commit_duration_seconds", "seconds",
              "From handing a record to the store until it is durable.", kNone),
    gauge(Metric::store_queued, "headsplit_store_queued_records", "",
          "Records handed to the store and not durable yet.", kNone),
    gauge(Metric::agents, "headsplit_agents", "", "Agents connected.", "backend"),
    gauge(Metric::agents_held_back, "headsplit_agents_held_back", "",
          "Connected agents that get no work: their node is drained, or their spool is full.",
          kNone),
    counter(Metric::node_drains, "headsplit_node_drains_total", "",
            "Times that a node was drained because points kept failing on it.", kNone),
    counter(Metric::points_condemned, "headsplit_points_condemned_total", "",
            "Points that failed on several nodes and were ended for it.", kNone),
    // Latest figures of the current sweep, one series a layout.
    gauge(Metric::layout_time, "headsplit_layout_time_seconds", "seconds",
          "Median time of one launch in the layout's latest row of the current sweep.", kLayout),
    gauge(Metric::layout_batch, "headsplit_layout_batch_requests", "", "Batch of that latest row.",
          kLayout),
    gauge(Metric::layout_query_tokens, "headsplit_layout_query_tokens", "",
          "Query tokens a request of that latest row.", kLayout),
    gauge(Metric::layout_context, "headsplit_layout_context_tokens", "",
          "KV length of that latest row.", kLayout),
    gauge(Metric::layout_intensity, "headsplit_layout_intensity_flops_per_byte", "",
          "Arithmetic intensity of that latest row: useful FLOPs over DRAM bytes counted "
          "(measured) or over the least bytes by formula (model).",
          kLayoutSource),
    gauge(Metric::layout_flop_rate, "headsplit_layout_flops_per_second", "",
          "Useful FLOPs over time of that latest row.", kLayout),
    gauge(Metric::layout_byte_rate, "headsplit_layout_bytes_per_second", "",
          "DRAM bytes over time of that latest row: counted (measured) or by formula (model).",
          kLayoutSource),
    gauge(Metric::layout_roofline, "headsplit_layout_roofline_ratio", "",
          "Fraction of the device's roofline that the latest row reaches.", kLayout),
    gauge(Metric::layout_cells, "headsplit_layout_cells", "",
          "Cells (shape, repeat, device) of the current sweep measured with this layout and with "
          "one rank: what the ratios below are means over.",
          kLayout),
    gauge(Metric::layout_speedup, "headsplit_layout_speedup_ratio", "",
          "Time of one rank alone over time of this layout, geometric mean over those cells.",
          kLayout),
    gauge(Metric::layout_efficiency, "headsplit_layout_efficiency_ratio", "",
          "Speed-up over the number of ranks.", kLayout),
    gauge(Metric::layout_reuse_retained, "headsplit_layout_reuse_retained_ratio", "",
          "Arithmetic intensity of this layout over that of one rank alone, geometric mean over "
          "those cells.",
          kLayoutSource),
    gauge(Metric::layout_kv_duplication, "headsplit_layout_kv_duplication_ratio", "",
          "KV cache bytes that all ranks read over what one rank alone reads, geometric mean over "
          "those cells.",
          kLayout),
    gauge(Metric::layout_kv_duplicated_bytes, "headsplit_layout_kv_duplicated_bytes", "bytes",
          "KV cache bytes that all ranks together read beyond what one rank alone reads, in the "
          "latest of those cells; one launch, one layer, by formula.",
          kLayout),
    // Work of the rows stored since this coordinator began: ratios of their rates are intensities.
    histogram(Metric::kernel_duration, "headsplit_kernel_duration_seconds", "seconds",
              "Median time of one launch, an observation a row.", kLayout),
    counter(Metric::kernel_flops, "headsplit_kernel_flops_total", "",
            "Useful FLOPs of one launch of each row whose DRAM bytes were counted (measured), or "
            "of each row (model).",
            kLayoutSource),
    counter(Metric::kernel_dram_read, "headsplit_kernel_dram_read_bytes_total", "bytes",
            "DRAM bytes read by one launch of each row, counted by the hardware.", kLayout),
    counter(Metric::kernel_dram_written, "headsplit_kernel_dram_written_bytes_total", "bytes",
            "DRAM bytes written by one launch of each row, counted by the hardware.", kLayout),
    counter(Metric::kernel_model_bytes, "headsplit_kernel_model_bytes_total", "bytes",
            "Least DRAM bytes of one launch of each row, by formula.", kLayout),
    counter(Metric::kernel_tensor_ops, "headsplit_kernel_tensor_ops_total", "",
            "Tensor-core operations of one launch of each row, counted by the hardware, padding "
            "included.",
            kLayout),
    // Agents that are connected; the series of one that is gone are gone too.
    gauge(Metric::agent_info, "headsplit_agent_info", "", "1; what a connected agent is.",
          "agent,node,backend,device,gpu_uuid,driver,cuda,build"),
    gauge(Metric::agent_last_heartbeat, "headsplit_agent_last_heartbeat_timestamp_seconds",
          "seconds", "When the agent last spoke, Unix time.", "agent"),
    gauge(Metric::agent_busy, "headsplit_agent_busy", "",
          "1 while the agent works on a point, 0 while it is idle.", "agent"),
    gauge(Metric::agent_memory, "headsplit_agent_memory_bytes", "bytes",
          "Memory that the agent found free for inputs when it began.", "agent"),
    counter(Metric::agent_rows, "headsplit_agent_rows_total", "",
            "Rows stored of this agent since it connected.", "agent"),
    counter(Metric::agent_throttled_rows, "headsplit_agent_throttled_rows_total", "",
            "Those of them measured while the clock was held down.", "agent"),
    gauge(Metric::agent_counters_available, "headsplit_agent_counters_available", "",
          "Whether the agent's latest row has hardware counters.", "agent,backend"),
    gauge(Metric::agent_read_ceiling, "headsplit_agent_read_ceiling_bytes_per_second", "",
          "Streaming-read ceiling that the agent measured on its device.", "agent"),
    gauge(Metric::agent_flop_ceiling, "headsplit_agent_ceiling_flops_per_second", "",
          "Matmul ceiling that the agent measured on its device.", "agent,dtype"),
    gauge(Metric::gpu_sm_clock, "headsplit_gpu_sm_clock_hertz", "hertz", "SM clock.", kGpu),
    gauge(Metric::gpu_memory_clock, "headsplit_gpu_memory_clock_hertz", "hertz", "Memory clock.",
          kGpu),
    gauge(Metric::gpu_power, "headsplit_gpu_power_watts", "watts", "Power draw.", kGpu),
    gauge(Metric::gpu_temperature, "headsplit_gpu_temperature_celsius", "celsius",
          "Temperature of the chip.", kGpu),
    counter(Metric::gpu_energy, "headsplit_gpu_energy_joules_total", "joules",
            "Energy since the driver was loaded.", kGpu),
    counter(Metric::gpu_throttled, "headsplit_gpu_throttled_seconds_total", "seconds",
            "Time that the clock was held down while the agent was connected, by its heartbeats.",
            kGpu),
};

}  // namespace

const std::vector<MetricSpec>& metric_table() { return kTable; }

const MetricSpec& spec_of(Metric metric) {
  const MetricSpec& spec = kTable[std::size_t(metric)];
  CHECK(spec.metric == metric);
  return spec;
}

std::string_view type_name(MetricType type) {
  return type == MetricType::Counter     ? "counter"
         : type == MetricType::Histogram ? "histogram"
                                         : "gauge";
}

std::string metrics_markdown() {
  std::string text =
      "| metric | type | unit | labels | meaning |\n| --- | --- | --- | --- | --- |\n";
  for (const MetricSpec& spec : metric_table()) {
    std::string labels;
    for (const auto label : spec.labels) labels += str(labels.empty() ? "" : ", ", label);
    text += str("| `", spec.name, "` | ", type_name(spec.type), " | ", spec.unit, " | ", labels,
                " | ", spec.help, " |\n");
  }
  return text;
}

}  // namespace headsplit::coordinator
