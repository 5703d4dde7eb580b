#include "agent/nvml.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace headsplit::agent {
namespace {

Nvml fake() { return Nvml::open(FAKE_NVML).value(); }

TEST(Nvml, SaysThatTheLibraryIsMissing) {
  const auto nvml = Nvml::open("libnvidia-ml-that-is-not-there.so.1");
  ASSERT_FALSE(nvml);
  EXPECT_EQ(nvml.error().kind, ErrorKind::io);
  EXPECT_NE(nvml.error().message.find("libnvidia-ml-that-is-not-there.so.1"), std::string::npos);
}

TEST(Nvml, SaysThatTheDriverIsNotLoaded) {
  ASSERT_EQ(setenv("FAKE_NVML_INIT", "9", 1), 0);
  const auto nvml = Nvml::open(FAKE_NVML);
  unsetenv("FAKE_NVML_INIT");
  ASSERT_FALSE(nvml);
  EXPECT_EQ(nvml.error().message, "NVML: nvmlInit: Driver Not Loaded");
}

TEST(Nvml, ListsTheGpusWithTheirFacts) {
  const Nvml nvml = fake();
  EXPECT_EQ(nvml.driver_version(), "580.1.2");
  EXPECT_EQ(nvml.cuda_version(), "13.1");
  const auto gpus = nvml.gpus().value();
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0], (GpuFacts{.name = "Fake H200",
                               .uuid = "GPU-one",
                               .pci_bus_id = "00000000:01:00.0",
                               .memory_bytes = 1000,
                               .memory_free_bytes = 600,
                               .ecc = true,
                               .mig = false,
                               .persistence = false,
                               .sm_clock_max_mhz = 1980,
                               .memory_clock_max_mhz = 3201,
                               .power_limit_w = 700}));
  EXPECT_EQ(gpus[1].mig, true);
}

TEST(Nvml, ReadsClocksPowerEnergyAndTemperatureInTheirUnits) {
  const DeviceState state = fake().state("GPU-one").value();
  EXPECT_EQ(state.sm_clock_mhz, 1755);
  EXPECT_EQ(state.memory_clock_mhz, 3201);
  EXPECT_DOUBLE_EQ(state.power_w.value(), 512.3);
  EXPECT_DOUBLE_EQ(state.energy_j.value(), 2.5);
  EXPECT_EQ(state.temperature_c, 41);
  EXPECT_EQ(state.throttled, true);
  EXPECT_EQ(state.throttle_reason, "software power cap, hardware thermal slowdown");
}

TEST(Nvml, GivesWhatAllLinksTogetherCarriedInBytes) {
  EXPECT_EQ(fake().link_bytes("GPU-one").value(),
            (LinkBytes{.sent = 138 * 1024, .received = 139 * 1024}));
  EXPECT_FALSE(fake().link_bytes("GPU-two").value());
  EXPECT_FALSE(Nvml::open(FAKE_NVML_OLD)->link_bytes("GPU-one").value());
}

TEST(Nvml, LeavesAbsentWhatTheGpuDoesNotTell) {
  const DeviceState state = fake().state("GPU-two").value();
  EXPECT_FALSE(state.power_w) << "a refused field is no 0 W";
  EXPECT_FALSE(state.energy_j);
  EXPECT_EQ(state.throttled, false) << "clocks that a user set are no throttling";
}

TEST(Nvml, WorksWithADriverThatLacksNewerCalls) {
  const Nvml nvml = Nvml::open(FAKE_NVML_OLD).value();
  EXPECT_EQ(nvml.cuda_version(), "");
  EXPECT_FALSE(nvml.gpus().value()[0].ecc);
  const DeviceState state = nvml.state("GPU-one").value();
  EXPECT_EQ(state.sm_clock_mhz, 1755);
  EXPECT_FALSE(state.power_w);
  EXPECT_EQ(state.throttled, false) << "idle is no throttling";
}

TEST(Nvml, RefusesAnUnknownGpu) {
  const auto state = fake().state("GPU-three");
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().message, "GPU-three: NVML: nvmlDeviceGetHandleByUUID: Not Found");
}

TEST(Nvml, SaysThatAGpuIsLost) {
  const Nvml nvml = fake();
  ASSERT_EQ(setenv("FAKE_NVML_DEVICE", "15", 1), 0);
  const auto state = nvml.state("GPU-one");
  unsetenv("FAKE_NVML_DEVICE");
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().message, "GPU-one: NVML: nvmlDeviceGetHandleByUUID: GPU is lost");
}

}  // namespace
}  // namespace headsplit::agent
