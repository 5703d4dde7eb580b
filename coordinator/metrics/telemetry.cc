#include "coordinator/metrics/telemetry.h"

#include <algorithm>

#include "core/version.h"

namespace headsplit::coordinator {
namespace {

void add_work(const Row& row, KernelSums& sums) {
  sums.flops += row.flops.value_or(0);
  sums.model_bytes += row.hbm_bytes_model.value_or(0);
  if (counted_dram_bytes(row)) {
    sums.counted = true;
    sums.flops_counted += row.flops.value_or(0);
    sums.dram_bytes_read += *row.dram_bytes_read;
    sums.dram_bytes_written += *row.dram_bytes_written;
  }
  if (row.tensor_ops) {
    sums.ops_counted = true;
    sums.tensor_ops += *row.tensor_ops;
  }
}

/// Whether the row speaks of hardware counters at all: it has them, or says why not.  A sweep that
/// did not ask for them tells nothing of the agent.
std::optional<bool> counters_of(const Row& row) {
  if (row.status != Status::ok) return std::nullopt;
  if (counted_dram_bytes(row)) return true;
  if (row.counters_reason.empty() || row.counters_reason == kCountersNotAskedFor)
    return std::nullopt;
  return false;
}

}  // namespace

Telemetry::Telemetry(std::size_t series_max)
    : series_max_(series_max), store_commit_s_(log_bounds(1e-4, 10)) {}

void Telemetry::agent_joined(std::int64_t session, const AgentInfo& agent, double unix_s) {
  Connected connected;
  connected.name = agent.name;
  connected.facts.last_spoke_unix_s = unix_s;
  agents_[session] = std::move(connected);
  session_of_agent_[agent.name] = session;
}

void Telemetry::agent_spoke(std::int64_t session, double unix_s) {
  const auto found = agents_.find(session);
  if (found != agents_.end()) found->second.facts.last_spoke_unix_s = unix_s;
}

void Telemetry::heartbeat(std::int64_t session, Heartbeat heartbeat, double unix_s) {
  const auto found = agents_.find(session);
  if (found == agents_.end()) return;
  AgentFacts& facts = found->second.facts;
  // Held down at both ends of an interval counts as held down throughout.
  if (heartbeat.throttled.value_or(false) && facts.heartbeat.throttled.value_or(false)) {
    facts.throttled_s += std::max(0.0, unix_s - facts.heartbeat_unix_s);
  }
  if (heartbeat.ceilings) facts.ceilings = heartbeat.ceilings;
  facts.heartbeat = std::move(heartbeat);
  facts.heartbeat_unix_s = unix_s;
  facts.last_spoke_unix_s = unix_s;
}

void Telemetry::agent_left(std::int64_t session) {
  const auto found = agents_.find(session);
  if (found == agents_.end()) return;
  const auto named = session_of_agent_.find(found->second.name);
  if (named != session_of_agent_.end() && named->second == session) session_of_agent_.erase(named);
  agents_.erase(found);
}

AgentFacts* Telemetry::facts_of(const std::string& agent) {
  const auto session = session_of_agent_.find(agent);
  return session == session_of_agent_.end() ? nullptr : &agents_.at(session->second).facts;
}

void Telemetry::committed(double seconds) { store_commit_s_.observe(seconds); }

void Telemetry::row_stored(const std::string& sweep, const Row& row, double unix_s) {
  rows_[row.status] += 1;
  if (AgentFacts* facts = facts_of(row.agent)) {
    facts->rows += 1;
    facts->throttled_rows += row.throttled.value_or(false);
    if (const auto available = counters_of(row)) facts->counters_available = available;
  }
  if (row.status == Status::ok) add_to_kernel(sweep, row, unix_s);
  figures_of(sweep).add(row);
}

void Telemetry::row_restored(const std::string& sweep, const Row& row) {
  figures_of(sweep).add(row);
}

void Telemetry::add_to_kernel(const std::string& sweep, const Row& row, double unix_s) {
  const LayoutKey key = layout_key(row);
  if (kernels_.size() >= kLayoutsMax && !kernels_.contains(key)) return;
  KernelSums& sums = kernels_[key];
  add_work(row, sums);
  const std::string link = "sweep=" + sweep + "&row=" + row.point_id;
  if (row.flops) sums.latest = Exemplar{link, *row.flops, unix_s};
  if (row.time_us) {
    const double time_s = *row.time_us * 1e-6;
    sums.duration_s.observe(time_s, Exemplar{link, time_s, unix_s});
  }
}

/// Moves the sweep to the end of the queue; the one untouched for longest gives way to a new one.
SweepFigures& Telemetry::figures_of(const std::string& sweep) {
  auto found = std::find_if(sweeps_.begin(), sweeps_.end(),
                            [&](const auto& known) { return known.first == sweep; });
  if (found == sweeps_.end()) {
    if (sweeps_.size() == kSweepsKept) sweeps_.pop_front();
    sweeps_.emplace_back(sweep, SweepFigures());
  } else if (std::next(found) != sweeps_.end()) {
    std::rotate(found, std::next(found), sweeps_.end());
  }
  return sweeps_.back().second;
}

MetricsInput Telemetry::input(MetricsMoment moment) const {
  MetricsInput input;
  input.version = version();
  input.revision = build_revision();
  input.process = process_facts();
  if (const SweepView* current = current_sweep(moment.sweeps)) {
    for (const auto& [sweep, figures] : sweeps_) {
      if (sweep == current->id) input.layouts = figures.layouts();
    }
  }
  input.sweeps = std::move(moment.sweeps);
  input.agents = std::move(moment.agents);
  input.totals = moment.totals;
  for (const auto& [session, connected] : agents_) input.agent_facts[session] = connected.facts;
  input.rows = rows_;
  input.kernels = kernels_;
  input.store_commit_s = store_commit_s_;
  input.store_queued = moment.store_queued;
  input.series_max = series_max_;
  input.series_omitted = series_omitted_;
  return input;
}

}  // namespace headsplit::coordinator
