// How long one scrape of /metrics takes with 20,000 series: from the coordinator's own values to
// the text that is sent, in both formats.  Exit 1 when the slower median is over 50 ms.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>

#include "coordinator/metrics/expose.h"
#include "coordinator/metrics/openmetrics.h"
#include "coordinator/metrics/telemetry.h"
#include "core/json.h"
#include "core/stats.h"

namespace headsplit::bench {

struct ScrapeTime {
  std::string format;
  std::size_t series = 0;
  std::size_t bytes = 0;
  double median_ms = 0;
  double p90_ms = 0;
  double limit_ms = 50;
  bool reached = false;
};
BOOST_DESCRIBE_STRUCT(ScrapeTime, (), (format, series, bytes, median_ms, p90_ms, limit_ms, reached))

namespace {

using namespace coordinator;

constexpr std::size_t kSeries = 20'000;
constexpr int kAgents = 1'500;
constexpr int kScrapes = 31;

AgentView sample_agent(int number) {
  AgentView view;
  view.session = number;
  view.agent = {.name = str("node", number / 8, "-", number % 8),
                .node = str("node", number / 8),
                .backend = "cuda",
                .device = "NVIDIA H200",
                .gpu_uuid = str("GPU-8f2f6a1e-0c5b-4e55-9a53-", 100000000000 + number),
                .driver = "580.159.04",
                .cuda = "13.0",
                .build = "1a2b3c4d5e",
                .memory_bytes = 140'000'000'000};
  view.working_on = "0123456789abcdef";
  return view;
}

Heartbeat sample_heartbeat(int number) {
  return {.working_on = "0123456789abcdef",
          .sm_clock_mhz = 1980.0 - number % 15,
          .memory_clock_mhz = 3201,
          .power_w = 650.25 + number % 50,
          .temperature_c = 61,
          .energy_j = 1.23456789e9 + number,
          .throttled = false};
}

Row sample_row(int number, int tp) {
  Row row;
  row.point_id = str("point", number);
  row.status = Status::ok;
  row.agent = str("node", number % kAgents / 8, "-", number % 8);
  row.model = str("model-", number % 5);
  row.kernel = "mla_dense";
  row.tp = tp;
  row.batch = 64;
  row.context = 8192;
  row.time_us = 123.4 + number;
  row.flops = 1.4e11 / tp;
  row.kv_bytes_model = 6.04e8;
  row.hbm_bytes_model = 6.2e8;
  row.dram_bytes_read = 6.1e8;
  row.dram_bytes_written = 1.1e7;
  row.tensor_ops = 1.5e11 / tp;
  row.intensity_model = 225.0 / tp;
  row.intensity_measured = 222.0 / tp;
  row.tflops = 600.5;
  row.gbps = 3900.25;
  row.roofline_fraction = 0.73;
  return row;
}

MetricsMoment fill(Telemetry& telemetry) {
  MetricsMoment moment;
  moment.sweeps = {{.id = "p1", .name = "bench", .points = 100, .pending = 100}};
  for (int i = 0; i < kAgents; ++i) {
    moment.agents.push_back(sample_agent(i));
    telemetry.agent_joined(i, moment.agents.back().agent, 1.7e9);
    telemetry.heartbeat(i, sample_heartbeat(i), 1.7e9);
  }
  for (int i = 0; i < 500; ++i) telemetry.row_stored("p1", sample_row(i, 1 << i % 8), 1.7e9);
  return moment;
}

ScrapeTime time_scrapes(const std::string& format, const std::function<std::string()>& scrape) {
  std::vector<double> samples_ms;
  ScrapeTime result{.format = format, .series = kSeries};
  for (int i = 0; i < kScrapes; ++i) {
    const auto start = std::chrono::steady_clock::now();
    result.bytes = scrape().size();
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - start;
    samples_ms.push_back(spent.count());
  }
  const Summary summary = summarise(samples_ms);
  result.median_ms = summary.median;
  result.p90_ms = summary.p90;
  result.reached = summary.median <= result.limit_ms;
  return result;
}

void print(const ScrapeTime& result, bool as_json) {
  if (as_json) {
    std::puts(json_text(result).c_str());
    return;
  }
  std::printf("%-12s %zu series  %zu bytes  median %.1f ms  p90 %.1f ms  limit %.0f ms  %s\n",
              result.format.c_str(), result.series, result.bytes, result.median_ms, result.p90_ms,
              result.limit_ms, result.reached ? "reached" : "MISSED");
}

bool run(bool as_json) {
  Telemetry telemetry(kSeries);
  const MetricsMoment moment = fill(telemetry);
  const std::size_t series = expose(telemetry.input(moment)).series;
  if (series != kSeries) {
    std::fprintf(stderr, "bench_metrics: %zu series instead of %zu\n", series, kSeries);
    return false;
  }
  const ScrapeTime text =
      time_scrapes("text", [&] { return prometheus_text(expose(telemetry.input(moment))); });
  const ScrapeTime openmetrics = time_scrapes(
      "openmetrics", [&] { return openmetrics_text(expose(telemetry.input(moment))); });
  print(text, as_json);
  print(openmetrics, as_json);
  return text.reached && openmetrics.reached;
}

}  // namespace
}  // namespace headsplit::bench

int main(int argc, char** argv) {
  const bool as_json = argc == 2 && std::strcmp(argv[1], "--json") == 0;
  if (argc > 1 && !as_json) {
    std::fprintf(stderr, "usage: %s [--json]\n", argv[0]);
    return 2;
  }
  return headsplit::bench::run(as_json) ? 0 : 1;
}
