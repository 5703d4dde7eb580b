#include "agent/profilers.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace headsplit::agent {
namespace {

TEST(OtherProfiler, IsNobodyInAPlainEnvironment) {
  EXPECT_EQ(other_profiler({{"PATH", "/usr/bin"}, {"NVIDIA_VISIBLE_DEVICES", "all"}}), "");
}

TEST(OtherProfiler, IsFoundByWhatToolsPutIntoTheEnvironment) {
  for (const char* name :
       {"CUDA_INJECTION64_PATH", "NV_NSIGHT_INJECTION_PORT_BASE", "NSYS_PROFILING_SESSION_ID",
        "NV_SANITIZER_INJECTION_PORT_BASE", "NV_COMPUTE_PROFILER_PERFWORKS_DIR"}) {
    const std::string found = other_profiler({{name, "1"}});
    EXPECT_NE(found.find(std::string("$") + name), std::string::npos) << found;
  }
}

TEST(OtherProfiler, IsFoundInPreloadedLibraries) {
  EXPECT_NE(other_profiler({{"LD_PRELOAD", "/opt/nsight-compute/libTreeLauncherInjection.so"}}),
            "");
  EXPECT_EQ(other_profiler({{"LD_PRELOAD", "/usr/lib/libjemalloc.so.2"}}), "");
}

TEST(OtherProfiler, IgnoresAVariableThatIsEmpty) {
  EXPECT_EQ(other_profiler({{"CUDA_INJECTION64_PATH", ""}}), "");
}

TEST(EnvironmentVariables, HoldWhatWasSet) {
  ASSERT_EQ(setenv("HEADSPLIT_TEST_VARIABLE", "a=b", 1), 0);
  EXPECT_EQ(environment_variables().at("HEADSPLIT_TEST_VARIABLE"), "a=b");
}

}  // namespace
}  // namespace headsplit::agent
