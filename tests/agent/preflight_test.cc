#include "agent/preflight.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace headsplit::agent {
namespace {

/// A sound machine with one GPU.
PreflightFacts sound() {
  PreflightFacts facts;
  facts.build = "0.1.0 (abc)";
  facts.build_has_cuda = true;
  facts.toolkit_cuda = "13.0";
  facts.cpu = "Fake CPU";
  facts.cpu_threads = 16;
  facts.memory_available_bytes = std::int64_t{64} << 30;
  facts.disk_path = ".";
  facts.disk_type = "ext4";
  facts.disk_free_bytes = std::int64_t{100} << 30;
  facts.driver = {true, "580.1"};
  facts.driver_cuda = "13.0";
  facts.gpus = {GpuFacts{.name = "Fake H200",
                         .uuid = "GPU-one",
                         .memory_bytes = 1000,
                         .memory_free_bytes = 990,
                         .mig = false}};
  facts.gpu_states = {DeviceState{.sm_clock_mhz = 345, .throttled = false}};
  facts.counters_for_admins_only = false;
  facts.counters = {true, "open on the first GPU"};
  facts.cublaslt = facts.nccl = facts.mpi = facts.blas = {true, "here"};
  return facts;
}

/// A machine without GPU or driver.
PreflightFacts no_gpu() {
  PreflightFacts facts = sound();
  facts.driver = {false, "libnvidia-ml.so.1: no such file"};
  facts.gpus.clear();
  facts.gpu_states.clear();
  facts.counters = {false, "no CUDA context"};
  facts.nccl = {false, "libnccl.so.2: no such file"};
  return facts;
}

Check check_of(const PreflightFacts& facts, const std::string& name,
               BackendChoice backend = BackendChoice::automatic) {
  for (const Check& check : preflight_checks(facts, backend)) {
    if (check.name == name) return check;
  }
  ADD_FAILURE() << "no check " << name;
  return {};
}

TEST(Preflight, OfASoundMachineIsAllOkAndReady) {
  for (const Check& check : preflight_checks(sound(), BackendChoice::cuda)) {
    EXPECT_EQ(check.state, CheckState::ok) << check.name << ": " << check.found;
    EXPECT_EQ(check.remedy, "") << check.name;
    EXPECT_NE(check.found, "") << check.name;
  }
  EXPECT_TRUE(ready(preflight_checks(sound(), BackendChoice::cuda)));
}

TEST(Preflight, GivesARemedyForWhateverIsNotOk) {
  PreflightFacts facts = no_gpu();
  facts.disk_type = "nfs";
  facts.other_profiler = "Nsight Compute is at work";
  facts.mpi = facts.blas = facts.cublaslt = {false, "none"};
  for (const Check& check : preflight_checks(facts, BackendChoice::automatic)) {
    EXPECT_EQ(check.remedy.empty(), check.state == CheckState::ok) << check.name;
  }
}

TEST(Preflight, IsReadyWithoutAGpuUnlessCudaIsAskedFor) {
  EXPECT_TRUE(ready(preflight_checks(no_gpu(), BackendChoice::automatic)));
  EXPECT_TRUE(ready(preflight_checks(no_gpu(), BackendChoice::cpu)));
  EXPECT_FALSE(ready(preflight_checks(no_gpu(), BackendChoice::cuda)));
  EXPECT_EQ(check_of(no_gpu(), "driver").state, CheckState::missing);
  EXPECT_FALSE(check_of(no_gpu(), "driver").needed);
}

TEST(Preflight, LooksAtNoGpuForTheCpuBackend) {
  for (const Check& check : preflight_checks(no_gpu(), BackendChoice::cpu)) {
    EXPECT_NE(check.name, "gpus");
    EXPECT_NE(check.name, "counters");
  }
}

TEST(Preflight, FindsADriverOlderThanTheBuild) {
  PreflightFacts facts = sound();
  facts.driver_cuda = "12.8";
  const Check check = check_of(facts, "driver", BackendChoice::cuda);
  EXPECT_EQ(check.state, CheckState::missing);
  EXPECT_NE(check.remedy.find("CUDA 13.0"), std::string::npos);
  EXPECT_FALSE(ready(preflight_checks(facts, BackendChoice::cuda)));
}

TEST(Preflight, FindsThatTheEnvironmentHidesTheGpus) {
  PreflightFacts facts = sound();
  facts.visible_devices = "";
  EXPECT_EQ(check_of(facts, "gpus").state, CheckState::missing);
  facts.visible_devices = "1";
  EXPECT_EQ(check_of(facts, "gpus").state, CheckState::ok);
}

TEST(Preflight, SaysHowToOpenCountersThatAreClosedToTheUser) {
  PreflightFacts facts = sound();
  facts.counters = {false, "CUPTI counter_availability: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"};
  facts.counters_for_admins_only = true;
  const Check check = check_of(facts, "counters");
  EXPECT_EQ(check.state, CheckState::degraded);
  EXPECT_NE(check.found.find("RmProfilingAdminOnly 1"), std::string::npos);
  EXPECT_NE(check.remedy.find("NVreg_RestrictProfilingToAdminUsers=0"), std::string::npos);
  EXPECT_TRUE(ready(preflight_checks(facts, BackendChoice::cuda))) << "rows do without counters";
}

TEST(Preflight, FindsMigABusyGpuAndAThrottledOne) {
  PreflightFacts facts = sound();
  facts.gpus[0].mig = true;
  EXPECT_NE(check_of(facts, "gpu 0").remedy.find("nvidia-smi -mig 0"), std::string::npos);
  facts = sound();
  facts.gpus[0].memory_free_bytes = 500;
  EXPECT_NE(check_of(facts, "gpu 0").remedy.find("something else uses this GPU"),
            std::string::npos);
  facts = sound();
  facts.gpu_states[0].throttled = true;
  facts.gpu_states[0].throttle_reason = "hardware slowdown";
  EXPECT_EQ(check_of(facts, "clocks 0").state, CheckState::degraded);
  EXPECT_NE(check_of(facts, "clocks 0").found.find("hardware slowdown"), std::string::npos);
}

TEST(Preflight, BlamesDcgmOnlyWhenTheCountersDoNotOpen) {
  PreflightFacts facts = sound();
  facts.dcgm_running = true;
  EXPECT_EQ(check_of(facts, "other profiler").state, CheckState::ok);
  facts.counters.found = false;
  EXPECT_NE(check_of(facts, "other profiler").remedy.find("dcgmi"), std::string::npos);
}

TEST(Preflight, NeedsMemoryAndDisk) {
  PreflightFacts facts = sound();
  facts.disk_free_bytes = 1 << 20;
  EXPECT_FALSE(ready(preflight_checks(facts, BackendChoice::cpu)));
  facts = sound();
  facts.memory_available_bytes = 1 << 20;
  EXPECT_FALSE(ready(preflight_checks(facts, BackendChoice::cpu)));
}

TEST(Preflight, AsksThisMachine) {
  const PreflightFacts facts = preflight_facts(".");
  EXPECT_NE(facts.cpu, "");
  EXPECT_GE(facts.cpu_threads, 1);
  EXPECT_GT(facts.memory_available_bytes, 0);
  EXPECT_GT(facts.disk_free_bytes, 0);
  EXPECT_EQ(facts.gpus.size(), facts.gpu_states.size());
  EXPECT_EQ(facts.driver.text.empty(), false) << "a version, or why there is none";
  EXPECT_EQ(facts.counters.text.empty(), false);
  EXPECT_TRUE(ready(preflight_checks(facts, BackendChoice::cpu)));
}

}  // namespace
}  // namespace headsplit::agent
