#include "coordinator/metrics/expose.h"

#include <algorithm>

namespace headsplit::coordinator {
namespace {

using Labels = ExpositionBuilder::Labels;

double number(std::int64_t count) { return static_cast<double>(count); }

std::optional<double> scaled(std::optional<double> value, double factor) {
  if (!value) return std::nullopt;
  return *value * factor;
}

void add_process(const MetricsInput& input, ExpositionBuilder& out) {
  out.add(Metric::build_info, {input.version, input.revision}, 1);
  out.add(Metric::process_start_time, {}, input.process.start_unix_s);
  out.add(Metric::process_resident_memory, {}, input.process.resident_bytes);
  out.add(Metric::process_cpu, {}, input.process.cpu_s);
}

void add_current_sweep(const SweepView& sweep, ExpositionBuilder& out) {
  out.add(Metric::sweep_info, {sweep.name, sweep.id, sweep.backend}, 1);
  out.add(Metric::points, {"pending"}, number(sweep.pending));
  out.add(Metric::points, {"running"}, number(sweep.running));
  out.add(Metric::points, {"storing"}, number(sweep.storing));
  out.add(Metric::points, {"ok"}, number(sweep.ok));
  out.add(Metric::points, {"failed"}, number(sweep.failed));
  out.add(Metric::points, {"skipped"}, number(sweep.skipped));
  out.add(Metric::points, {"cancelled"}, number(sweep.cancelled));
  out.add(Metric::points_resumed, {}, number(sweep.resumed));
}

void add_sweeps(const std::vector<SweepView>& sweeps, ExpositionBuilder& out) {
  std::int64_t finished = 0;
  std::int64_t pending = 0;
  std::int64_t running = 0;
  for (const SweepView& sweep : sweeps) {
    finished += sweep.done() == sweep.points;
    pending += sweep.pending;
    running += sweep.running;
  }
  out.add(Metric::sweeps, {"running"}, number(std::int64_t(sweeps.size()) - finished));
  out.add(Metric::sweeps, {"finished"}, number(finished));
  if (const SweepView* current = current_sweep(sweeps)) add_current_sweep(*current, out);
  out.add(Metric::queue_points, {}, number(pending));
  out.add(Metric::leases, {}, number(running));
}

/// Every reason and status from the start on, so that rates see the first event too.
void add_events(const MetricsInput& input, ExpositionBuilder& out) {
  const SchedulerTotals& totals = input.totals;
  out.add(Metric::attempts, {}, number(totals.granted));
  out.add(Metric::attempt_failures, {"lost"}, number(totals.lost));
  out.add(Metric::attempt_failures, {"expired"}, number(totals.expired));
  out.add(Metric::attempt_failures, {"failed"}, number(totals.retried));
  for (const Status status : {Status::ok, Status::failed, Status::skipped, Status::cancelled}) {
    const auto found = input.rows.find(status);
    out.add(Metric::rows, {enum_name(status)},
            number(found == input.rows.end() ? 0 : found->second));
  }
  out.add(Metric::rows_rejected, {"stale"}, number(totals.stale));
  out.add(Metric::rows_rejected, {"duplicate"}, number(totals.duplicate));
  out.add(Metric::rows_rejected, {"invalid"}, number(totals.invalid));
  out.add(Metric::store_commit_duration, {}, input.store_commit_s);
  out.add(Metric::store_queued, {}, static_cast<double>(input.store_queued));
}

Labels labels_of(const LayoutKey& key) {
  return {key.model, key.kernel, key.kv_dtype, str(key.tp), str(key.dp), str(key.cp)};
}

Labels with(Labels labels, std::string last) {
  labels.push_back(std::move(last));
  return labels;
}

void add_layout(const LayoutKey& key, const LayoutFigures& figures, ExpositionBuilder& out) {
  const Labels labels = labels_of(key);
  const Labels measured = with(labels, "measured");
  const Labels model = with(labels, "model");
  out.add(Metric::layout_time, labels, figures.time_s);
  out.add(Metric::layout_batch, labels, figures.batch);
  out.add(Metric::layout_query_tokens, labels, figures.query_tokens);
  out.add(Metric::layout_context, labels, number(figures.context));
  out.add(Metric::layout_intensity, measured, figures.intensity_measured);
  out.add(Metric::layout_intensity, model, figures.intensity_model);
  out.add(Metric::layout_flop_rate, labels, figures.flops_per_s);
  out.add(Metric::layout_byte_rate, measured, figures.dram_bytes_per_s);
  out.add(Metric::layout_byte_rate, model, figures.model_bytes_per_s);
  out.add(Metric::layout_roofline, labels, figures.roofline_ratio);
  out.add(Metric::layout_cells, labels, number(figures.speedup.count));
  out.add(Metric::layout_speedup, labels, figures.speedup.value());
  out.add(Metric::layout_efficiency, labels, scaled(figures.speedup.value(), 1.0 / key.ranks()));
  out.add(Metric::layout_reuse_retained, measured, figures.reuse_measured.value());
  out.add(Metric::layout_reuse_retained, model, figures.reuse_model.value());
  out.add(Metric::layout_kv_duplication, labels, figures.kv_duplication.value());
  out.add(Metric::layout_kv_duplicated_bytes, labels, figures.kv_duplicated_bytes);
}

void add_kernel(const LayoutKey& key, const KernelSums& sums, ExpositionBuilder& out) {
  const Labels labels = labels_of(key);
  out.add(Metric::kernel_duration, labels, sums.duration_s);
  out.add(Metric::kernel_flops, with(labels, "model"), sums.flops, sums.latest);
  out.add(Metric::kernel_model_bytes, labels, sums.model_bytes);
  if (sums.counted) {
    out.add(Metric::kernel_flops, with(labels, "measured"), sums.flops_counted);
    out.add(Metric::kernel_dram_read, labels, sums.dram_bytes_read);
    out.add(Metric::kernel_dram_written, labels, sums.dram_bytes_written);
  }
  if (sums.ops_counted) out.add(Metric::kernel_tensor_ops, labels, sums.tensor_ops);
}

void add_fleet(const std::vector<AgentView>& agents, const SchedulerTotals& totals,
               ExpositionBuilder& out) {
  std::map<std::string, std::int64_t> count = {{"cpu", 0}, {"cuda", 0}};
  for (const AgentView& view : agents) count[view.agent.backend] += 1;
  for (const auto& [backend, connected] : count) {
    out.add(Metric::agents, {backend}, number(connected));
  }
  const auto held_back = std::count_if(agents.begin(), agents.end(),
                                       [](const auto& view) { return !view.held_back.empty(); });
  out.add(Metric::agents_held_back, {}, number(held_back));
  out.add(Metric::node_drains, {}, number(totals.drained));
  out.add(Metric::points_condemned, {}, number(totals.condemned));
}

void add_ceilings(const std::string& name, const Ceilings& ceilings, ExpositionBuilder& out) {
  out.add(Metric::agent_read_ceiling, {name}, scaled(ceilings.read_gbps, 1e9));
  out.add(Metric::agent_flop_ceiling, {name, "bf16"}, scaled(ceilings.bf16_tflops, 1e12));
  out.add(Metric::agent_flop_ceiling, {name, "fp8"}, scaled(ceilings.fp8_tflops, 1e12));
  out.add(Metric::agent_flop_ceiling, {name, "fp32"}, scaled(ceilings.fp32_tflops, 1e12));
}

void add_gpu(const AgentInfo& agent, const AgentFacts& facts, ExpositionBuilder& out) {
  const Labels labels = {agent.name, agent.gpu_uuid};
  const Heartbeat& heartbeat = facts.heartbeat;
  out.add(Metric::gpu_sm_clock, labels, scaled(heartbeat.sm_clock_mhz, 1e6));
  out.add(Metric::gpu_memory_clock, labels, scaled(heartbeat.memory_clock_mhz, 1e6));
  out.add(Metric::gpu_power, labels, heartbeat.power_w);
  out.add(Metric::gpu_temperature, labels, heartbeat.temperature_c);
  out.add(Metric::gpu_energy, labels, heartbeat.energy_j);
  if (heartbeat.throttled) out.add(Metric::gpu_throttled, labels, facts.throttled_s);
}

void add_agent(const AgentView& view, const AgentFacts& facts, ExpositionBuilder& out) {
  const AgentInfo& agent = view.agent;
  out.add(Metric::agent_info,
          {agent.name, agent.node, agent.backend, agent.device, agent.gpu_uuid, agent.driver,
           agent.cuda, agent.build},
          1);
  out.add(Metric::agent_last_heartbeat, {agent.name}, facts.last_spoke_unix_s);
  out.add(Metric::agent_busy, {agent.name}, view.working_on.empty() ? 0 : 1);
  out.add(Metric::agent_memory, {agent.name}, number(agent.memory_bytes));
  out.add(Metric::agent_rows, {agent.name}, number(facts.rows));
  out.add(Metric::agent_throttled_rows, {agent.name}, number(facts.throttled_rows));
  if (facts.counters_available) {
    out.add(Metric::agent_counters_available, {agent.name, agent.backend},
            *facts.counters_available ? 1 : 0);
  }
  if (facts.ceilings) add_ceilings(agent.name, *facts.ceilings, out);
  add_gpu(agent, facts, out);
}

}  // namespace

Exposition expose(const MetricsInput& input) {
  // One series is kept back, for the count of what did not fit.
  ExpositionBuilder out(std::max<std::size_t>(input.series_max, 1) - 1);
  add_process(input, out);
  add_sweeps(input.sweeps, out);
  add_events(input, out);
  add_fleet(input.agents, input.totals, out);
  for (const auto& [key, figures] : input.layouts) add_layout(key, figures, out);
  for (const auto& [key, sums] : input.kernels) add_kernel(key, sums, out);
  for (const AgentView& view : input.agents) {
    const auto facts = input.agent_facts.find(view.session);
    if (facts != input.agent_facts.end()) add_agent(view, facts->second, out);
  }
  return out.finish(input.series_omitted);
}

}  // namespace headsplit::coordinator
