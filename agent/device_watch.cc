#include "agent/device_watch.h"

#include <memory>

#include "agent/nvml.h"
#include "core/log.h"

namespace headsplit::agent {
namespace {

DeviceWatch nothing_to_watch() {
  return [](Heartbeat&) {};
}

void log_blind(const std::string& reason) {
  log_line(LogLevel::warn, "agent", "heartbeats without clocks and power",
           log_field("reason", reason));
}

void fill(const DeviceState& state, Heartbeat& heartbeat) {
  heartbeat.sm_clock_mhz = state.sm_clock_mhz;
  heartbeat.memory_clock_mhz = state.memory_clock_mhz;
  heartbeat.power_w = state.power_w;
  heartbeat.temperature_c = state.temperature_c;
  heartbeat.energy_j = state.energy_j;
  heartbeat.throttled = state.throttled;
}

}  // namespace

DeviceWatch watch_device(const AgentInfo& agent, const std::string& library) {
  if (agent.gpu_uuid.empty()) return nothing_to_watch();
  auto nvml = Nvml::open(library);
  if (!nvml) {
    log_blind(nvml.error().message);
    return nothing_to_watch();
  }
  // Shared: std::function copies what it holds.
  const auto shared = std::make_shared<const Nvml>(std::move(nvml).value());
  if (const auto first = shared->state(agent.gpu_uuid); !first) {
    log_blind(first.error().message);
    return nothing_to_watch();
  }
  return [shared, uuid = agent.gpu_uuid](Heartbeat& heartbeat) {
    if (const auto state = shared->state(uuid)) fill(state.value(), heartbeat);
  };
}

}  // namespace headsplit::agent
