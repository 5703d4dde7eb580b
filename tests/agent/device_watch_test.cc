#include "agent/device_watch.h"

#include <gtest/gtest.h>

namespace headsplit::agent {
namespace {

AgentInfo agent_with(const std::string& gpu_uuid) {
  AgentInfo agent;
  agent.gpu_uuid = gpu_uuid;
  return agent;
}

Heartbeat heartbeat_of(const DeviceWatch& watch) {
  Heartbeat heartbeat;
  watch(heartbeat);
  return heartbeat;
}

TEST(DeviceWatch, PutsTheStateOfTheGpuIntoHeartbeats) {
  const Heartbeat heartbeat = heartbeat_of(watch_device(agent_with("GPU-one"), FAKE_NVML));
  EXPECT_EQ(heartbeat.sm_clock_mhz, 1755);
  EXPECT_EQ(heartbeat.memory_clock_mhz, 3201);
  EXPECT_TRUE(heartbeat.power_w && heartbeat.temperature_c && heartbeat.energy_j);
  EXPECT_TRUE(heartbeat.throttled.has_value());
}

TEST(DeviceWatch, KnowsNothingOfACpuOrWithoutTheLibraryOrTheGpu) {
  EXPECT_EQ(heartbeat_of(watch_device(agent_with(""), FAKE_NVML)), Heartbeat());
  EXPECT_EQ(heartbeat_of(watch_device(agent_with("GPU-none"), FAKE_NVML)), Heartbeat());
  EXPECT_EQ(heartbeat_of(watch_device(agent_with("GPU-one"), "libnot-there.so.1")), Heartbeat());
}

}  // namespace
}  // namespace headsplit::agent
