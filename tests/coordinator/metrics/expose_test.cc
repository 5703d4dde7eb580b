#include "coordinator/metrics/expose.h"

#include <gtest/gtest.h>

#include "coordinator/metrics/telemetry.h"
#include "tests/coordinator/metrics/sample_rows.h"

namespace headsplit::coordinator {
namespace {

using Labels = std::map<std::string, std::string>;

/// The value of a gauge or counter whose labels include these.
std::optional<double> value_of(const Exposition& exposition, std::string_view name,
                               const Labels& wanted = {}) {
  const prometheus::MetricFamily* family = exposition.find(name);
  if (family == nullptr) return std::nullopt;
  for (const auto& metric : family->metric) {
    std::size_t found = 0;
    for (const auto& label : metric.label) {
      const auto value = wanted.find(label.name);
      found += value != wanted.end() && value->second == label.value;
    }
    if (found != wanted.size()) continue;
    const bool counter = family->type == prometheus::MetricType::Counter;
    return counter ? metric.counter.value : metric.gauge.value;
  }
  return std::nullopt;
}

AgentView agent(std::int64_t session, const std::string& name) {
  AgentView view;
  view.session = session;
  view.agent.name = name;
  view.agent.node = "node1";
  view.agent.backend = "cuda";
  view.agent.gpu_uuid = "GPU-" + name;
  return view;
}

MetricsMoment moment_with(std::vector<AgentView> agents) {
  MetricsMoment moment;
  moment.sweeps = {
      {.id = "p1", .name = "old", .points = 2, .ok = 2},
      {.id = "p2", .name = "new", .points = 9, .pending = 4, .running = 1, .ok = 3, .failed = 1},
      {.id = "p3", .name = "next", .points = 5, .pending = 5}};
  moment.agents = std::move(agents);
  moment.totals = {.granted = 7, .stale = 2, .expired = 1, .lost = 3};
  return moment;
}

TEST(Metrics, AreOfTheSweepThatIsServedAndCountTheQueueOfAll) {
  const Exposition exposition = expose(Telemetry().input(moment_with({})));
  EXPECT_EQ(value_of(exposition, "headsplit_sweep_info", {{"sweep", "new"}, {"plan", "p2"}}), 1);
  EXPECT_EQ(value_of(exposition, "headsplit_points", {{"state", "ok"}}), 3);
  EXPECT_EQ(value_of(exposition, "headsplit_points", {{"state", "cancelled"}}), 0);
  EXPECT_EQ(value_of(exposition, "headsplit_queue_points"), 9);
  EXPECT_EQ(value_of(exposition, "headsplit_sweeps", {{"state", "finished"}}), 1);
  EXPECT_EQ(value_of(exposition, "headsplit_attempts_total"), 7);
  EXPECT_EQ(value_of(exposition, "headsplit_attempt_failures_total", {{"reason", "lost"}}), 3);
  EXPECT_EQ(value_of(exposition, "headsplit_rows_rejected_total", {{"reason", "stale"}}), 2);
}

TEST(Metrics, SpeakOfTheLastSweepWhenAllAreFinished) {
  MetricsMoment moment;
  moment.sweeps = {{.id = "p1", .name = "a", .points = 1, .ok = 1},
                   {.id = "p2", .name = "b", .points = 1, .skipped = 1}};
  const Exposition exposition = expose(Telemetry().input(moment));
  EXPECT_EQ(value_of(exposition, "headsplit_sweep_info", {{"sweep", "b"}}), 1);
  EXPECT_FALSE(value_of(exposition, "headsplit_sweep_info", {{"sweep", "a"}}));
}

TEST(Metrics, OfADeadAgentVanish) {
  Telemetry telemetry;
  const AgentView first = agent(1, "node1-0");
  const AgentView second = agent(2, "node1-1");
  telemetry.agent_joined(1, first.agent, 100);
  telemetry.agent_joined(2, second.agent, 100);
  Heartbeat heartbeat;
  heartbeat.power_w = 500;
  telemetry.heartbeat(1, heartbeat, 101);
  telemetry.heartbeat(2, heartbeat, 101);
  Exposition exposition = expose(telemetry.input(moment_with({first, second})));
  EXPECT_EQ(value_of(exposition, "headsplit_gpu_power_watts", {{"agent", "node1-0"}}), 500);
  telemetry.agent_left(1);
  exposition = expose(telemetry.input(moment_with({second})));
  for (const auto& family : exposition.families) {
    EXPECT_FALSE(value_of(exposition, family.name, {{"agent", "node1-0"}})) << family.name;
  }
  EXPECT_EQ(value_of(exposition, "headsplit_gpu_power_watts", {{"agent", "node1-1"}}), 500);
}

TEST(Metrics, LeaveOutWhatADeviceDoesNotTell) {
  Telemetry telemetry;
  const AgentView view = agent(1, "node1-0");
  telemetry.agent_joined(1, view.agent, 100);
  Heartbeat heartbeat;
  heartbeat.sm_clock_mhz = 1980;
  telemetry.heartbeat(1, heartbeat, 101);
  const Exposition exposition = expose(telemetry.input(moment_with({view})));
  EXPECT_EQ(value_of(exposition, "headsplit_gpu_sm_clock_hertz"), 1.98e9);
  EXPECT_EQ(value_of(exposition, "headsplit_agent_last_heartbeat_timestamp_seconds"), 101);
  EXPECT_EQ(exposition.find("headsplit_gpu_power_watts"), nullptr);
  EXPECT_EQ(exposition.find("headsplit_gpu_throttled_seconds_total"), nullptr);
  EXPECT_EQ(exposition.find("headsplit_agent_counters_available"), nullptr);
}

TEST(Metrics, SumThrottledTimeBetweenHeartbeats) {
  Telemetry telemetry;
  const AgentView view = agent(1, "node1-0");
  telemetry.agent_joined(1, view.agent, 100);
  for (const auto& [throttled, unix_s] : std::vector<std::pair<bool, double>>{
           {false, 100}, {true, 101}, {true, 102}, {true, 103.5}, {false, 105}, {true, 110}}) {
    Heartbeat heartbeat;
    heartbeat.throttled = throttled;
    telemetry.heartbeat(1, heartbeat, unix_s);
  }
  const Exposition exposition = expose(telemetry.input(moment_with({view})));
  EXPECT_EQ(value_of(exposition, "headsplit_gpu_throttled_seconds_total"), 2.5);
}

TEST(Metrics, KeepTheCeilingsThatAnAgentToldOnce) {
  Telemetry telemetry;
  const AgentView view = agent(1, "node1-0");
  telemetry.agent_joined(1, view.agent, 100);
  Heartbeat heartbeat;
  heartbeat.ceilings = Ceilings{.read_gbps = 4000, .bf16_tflops = 800};
  telemetry.heartbeat(1, heartbeat, 101);
  telemetry.heartbeat(1, Heartbeat(), 102);
  const Exposition exposition = expose(telemetry.input(moment_with({view})));
  EXPECT_EQ(value_of(exposition, "headsplit_agent_read_ceiling_bytes_per_second"), 4e12);
  EXPECT_EQ(value_of(exposition, "headsplit_agent_ceiling_flops_per_second", {{"dtype", "bf16"}}),
            8e14);
  EXPECT_FALSE(
      value_of(exposition, "headsplit_agent_ceiling_flops_per_second", {{"dtype", "fp8"}}));
}

TEST(Metrics, MakeIntensityARatioOfCounters) {
  Telemetry telemetry;
  telemetry.row_stored("p2", counted_row(4, 200), 100);
  telemetry.row_stored("p2", sample_row(4, 220), 101);  // the counters failed this time
  const Exposition exposition = expose(telemetry.input(moment_with({})));
  const Labels tp4 = {{"tp", "4"}, {"kernel", "mla_dense"}};
  const double flops =
      value_of(exposition, "headsplit_kernel_flops_total", {{"tp", "4"}, {"source", "measured"}})
          .value();
  const double bytes =
      value_of(exposition, "headsplit_kernel_dram_read_bytes_total", tp4).value() +
      value_of(exposition, "headsplit_kernel_dram_written_bytes_total", tp4).value();
  EXPECT_NEAR(flops / bytes, counted_row(4, 200).intensity_measured.value(), 1e-9);
  EXPECT_EQ(
      value_of(exposition, "headsplit_kernel_flops_total", {{"tp", "4"}, {"source", "model"}}),
      2 * flops);
}

TEST(Metrics, OfTheCurrentSweepAreNotMixedWithThoseOfOthers) {
  Telemetry telemetry;
  telemetry.row_stored("p1", sample_row(1, 999), 90);
  telemetry.row_stored("p2", sample_row(1, 400), 100);
  telemetry.row_stored("p3", sample_row(1, 1), 110);
  const Exposition exposition = expose(telemetry.input(moment_with({})));
  EXPECT_NEAR(value_of(exposition, "headsplit_layout_time_seconds", {{"tp", "1"}}).value(), 4e-4,
              1e-12);
}

TEST(Metrics, CountRestoredRowsInFiguresAndNotInTotals) {
  Telemetry telemetry;
  telemetry.row_restored("p2", sample_row(1, 400));
  telemetry.row_stored("p2", sample_row(2, 200), 100);
  const Exposition exposition = expose(telemetry.input(moment_with({})));
  EXPECT_EQ(value_of(exposition, "headsplit_layout_speedup_ratio", {{"tp", "2"}}), 2);
  EXPECT_EQ(value_of(exposition, "headsplit_layout_efficiency_ratio", {{"tp", "2"}}), 1);
  EXPECT_EQ(value_of(exposition, "headsplit_rows_total", {{"status", "ok"}}), 1);
}

TEST(Metrics, SayWhetherAnAgentHasCounters) {
  Telemetry telemetry;
  const AgentView view = agent(1, "node1-0");
  telemetry.agent_joined(1, view.agent, 100);
  Row row = sample_row(1, 400);
  row.counters_reason = kCountersNotAskedFor;
  telemetry.row_stored("p2", row, 100);
  const auto available = [&] {
    return value_of(expose(telemetry.input(moment_with({view}))),
                    "headsplit_agent_counters_available", {{"agent", "node1-0"}});
  };
  EXPECT_FALSE(available()) << "nobody asked";
  row.counters_reason = "closed to this user";
  telemetry.row_stored("p2", row, 101);
  EXPECT_EQ(available(), 0);
  telemetry.row_stored("p2", counted_row(1, 400), 102);
  EXPECT_EQ(available(), 1);
}

TEST(Metrics, ThatACapLeavesOutAreCountedAndTakeTheLastAgentsFirst) {
  Telemetry telemetry(60);
  std::vector<AgentView> agents;
  for (int i = 0; i < 20; ++i) {
    agents.push_back(agent(i, "node" + std::to_string(i)));
    telemetry.agent_joined(i, agents.back().agent, 100);
  }
  Exposition exposition = expose(telemetry.input(moment_with(agents)));
  EXPECT_LE(exposition.series, 60u);
  EXPECT_GT(exposition.omitted, 0u);
  EXPECT_EQ(value_of(exposition, "headsplit_metrics_series_omitted_total"), exposition.omitted);
  EXPECT_TRUE(value_of(exposition, "headsplit_points", {{"state", "ok"}}));
  EXPECT_TRUE(value_of(exposition, "headsplit_agent_info", {{"agent", "node0"}}));
  EXPECT_FALSE(value_of(exposition, "headsplit_agent_info", {{"agent", "node19"}}));
  telemetry.series_omitted(exposition.omitted);
  const Exposition next = expose(telemetry.input(moment_with(agents)));
  EXPECT_EQ(value_of(next, "headsplit_metrics_series_omitted_total"), 2 * exposition.omitted);
}

TEST(Metrics, ClipLongLabelsAtAWholeCharacter) {
  const std::string accents = "x" + std::string(200, 'a') + "\xC3\xA9";
  EXPECT_EQ(clipped(accents, 10).size(), 10u);
  EXPECT_EQ(clipped("\xC3\xA9\xC3\xA9", 3), "\xC3\xA9");
  EXPECT_EQ(clipped("short", 10), "short");
}

TEST(Metrics, KeepFiguresOfAFewSweepsOnly) {
  Telemetry telemetry;
  telemetry.row_stored("p2", sample_row(1, 400), 1);
  for (std::size_t i = 0; i < Telemetry::kSweepsKept; ++i) {
    telemetry.row_stored("other" + std::to_string(i), sample_row(1, 1), 2);
  }
  const Exposition exposition = expose(telemetry.input(moment_with({})));
  EXPECT_FALSE(value_of(exposition, "headsplit_layout_time_seconds"));
}

TEST(Metrics, KnowTheProcess) {
  const ProcessFacts facts = process_facts();
  EXPECT_GT(facts.resident_bytes.value(), 1e6);
  EXPECT_GT(facts.start_unix_s.value(), 1.6e9);
  EXPECT_GE(facts.cpu_s.value(), 0);
}

}  // namespace
}  // namespace headsplit::coordinator
