#include "dashboards/source/dashboard.h"

namespace headsplit::dashboards {
namespace {

constexpr const char* kAgent = R"(@all, agent=~"$agent")";

std::string of_agent(const std::string& metric) { return metric + "{" + kAgent + "}"; }

std::string rate_of(const std::string& metric) {
  return "rate(" + of_agent(metric) + "[$__rate_interval])";
}

Panel of_gpus(std::string title, std::string description, std::string unit, std::string metric,
              const std::string& axis) {
  return {.title = std::move(title),
          .description = std::move(description),
          .unit = std::move(unit),
          .queries = {{of_agent(metric), "{{agent}}"}},
          .defaults = linear_axis(axis)};
}

std::vector<Panel> numbers() {
  Panel agents = stat("Agents", "Agents connected, by backend.", "none",
                      {"sum by (backend) (headsplit_agents{@all})", "{{backend}}"});
  Panel busy = stat("Busy", "Share of the agents that work on a point.", "percentunit",
                    {"avg(headsplit_agent_busy{@all, agent=~\"$agent\"})", "busy"});
  Panel power = stat("Power", "Of all GPUs that tell.", "watt",
                     {"sum(headsplit_gpu_power_watts{@all, agent=~\"$agent\"})", "power"});
  Panel throttled = stat("Throttled rows",
                         "Share of the rows of the last five minutes that were "
                         "measured while the clock was held down.",
                         "percentunit",
                         {"avg(agent:headsplit_agent_throttled_rows_per_row:ratio_rate5m{@all, "
                          "agent=~\"$agent\"})",
                          "throttled"});
  Panel memory = stat("Coordinator memory", "Resident memory of the coordinator.", "bytes",
                      {"sum(process_resident_memory_bytes{@all})", "resident"});
  Panel cpu = stat("Coordinator CPU", "Processors that the coordinator keeps busy.", "percentunit",
                   {"sum(rate(process_cpu_seconds_total{@all}[$__rate_interval]))", "CPU"});
  return {agents, busy, power, throttled, memory, cpu};
}

Panel agent_table() {
  return {
      .title = "Agents",
      .description =
          "Every connected agent. One that is gone is gone from here with the next "
          "scrape.",
      .type = "table",
      .width = 24,
      .height = 9,
      .queries = {{"max by (agent, node, backend, device, gpu_uuid, driver, cuda, build) (" +
                       of_agent("headsplit_agent_info") + ")",
                   "", true},
                  {"max by (agent) (" + of_agent("headsplit_agent_memory_bytes") + ")", "", true},
                  {"max by (agent) (" + of_agent("headsplit_agent_busy") + ")", "", true}},
      .overrides = {unit_of_column("Memory", "bytes"), unit_of_column("Busy", "bool_yes_no")},
      .transformations = joined_table({{"agent", "Agent"},
                                       {"node", "Node"},
                                       {"backend", "Backend"},
                                       {"device", "Device"},
                                       {"gpu_uuid", "GPU"},
                                       {"driver", "Driver"},
                                       {"cuda", "CUDA"},
                                       {"build", "Build"},
                                       {"Value #B", "Memory"},
                                       {"Value #C", "Busy"}})};
}

std::vector<Panel> agents() {
  return {
      {.title = "Time since the last heartbeat",
       .description = "Agents speak every second; after ten seconds of silence one counts as lost.",
       .unit = "s",
       .queries = {{"time() - " + of_agent("headsplit_agent_last_heartbeat_timestamp_seconds"),
                    "{{agent}}"}},
       .defaults = linear_axis("silence")},
      {.title = "Rows by agent",
       .description = "Rows stored of each agent.",
       .unit = "ops",
       .queries = {{rate_of("headsplit_agent_rows_total"), "{{agent}}"}},
       .defaults = linear_axis("rows per second")},
      of_gpus("SM clock", "A clock that sinks under load makes later rows slower.", "hertz",
              "headsplit_gpu_sm_clock_hertz", "SM clock"),
      of_gpus("Memory clock", "Memory-bound rows follow it.", "hertz",
              "headsplit_gpu_memory_clock_hertz", "memory clock"),
      of_gpus("Power", "Power draw of each GPU.", "watt", "headsplit_gpu_power_watts", "power"),
      of_gpus("Temperature", "Temperature of each chip.", "celsius",
              "headsplit_gpu_temperature_celsius", "temperature"),
      {.title = "Mean power by the energy counter",
       .description = "Rate of the energy counter: a mean over the interval, where the power "
                      "reading is of a moment.",
       .unit = "watt",
       .queries = {{rate_of("headsplit_gpu_energy_joules_total"), "{{agent}}"}},
       .defaults = linear_axis("power")},
      {.title = "Throttled",
       .description = "Share of the time in which the clock was held below what was asked for: by "
                      "heartbeats, and share of rows so marked.",
       .unit = "percentunit",
       .queries = {{rate_of("headsplit_gpu_throttled_seconds_total"), "{{agent}} time"},
                   {"agent:headsplit_agent_throttled_rows_per_row:ratio_rate5m{@all, "
                    "agent=~\"$agent\"}",
                    "{{agent}} rows"}},
       .defaults = linear_axis("of the time")},
      {.title = "Hardware counters",
       .description = "Whether each agent's latest row has DRAM bytes and tensor operations "
                      "counted by the hardware. Rows without them say why.",
       .type = "stat",
       .unit = "bool_yes_no",
       .queries = {{of_agent("headsplit_agent_counters_available"), "{{agent}}"}},
       .options = {{"reduceOptions", {{"calcs", json::array{"lastNotNull"}}}},
                   {"graphMode", "none"}}},
      {.title = "Series left out",
       .description = "Series that --metrics-series-max left out of a scrape. Above 0, agents are "
                      "missing from this page.",
       .queries = {{"sum(increase(headsplit_metrics_series_omitted_total{@all}[$__rate_interval]))",
                    "left out"}},
       .defaults = linear_axis("series")},
  };
}

}  // namespace

Dashboard fleet() {
  std::vector<Panel> panels = numbers();
  panels.push_back(agent_table());
  for (Panel& panel : agents()) panels.push_back(std::move(panel));
  return {.uid = "headsplit-fleet",
          .title = "headsplit / Fleet",
          .description = "Agents and GPUs: who is there, what they do, and how their clocks hold.",
          .variables = {{.name = "agent",
                         .label = "Agent",
                         .query = "label_values(headsplit_agent_info{@all}, agent)",
                         .many = true}},
          .panels = std::move(panels)};
}

}  // namespace headsplit::dashboards
