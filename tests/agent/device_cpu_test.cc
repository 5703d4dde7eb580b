#include "agent/device_cpu.h"

#include <gtest/gtest.h>

#include "agent/cpu_facts.h"
#include "kernels/verify.h"
#include "tests/agent/fixed_splits.h"

namespace headsplit::agent {
namespace {

constexpr const char* kTwoProcessors =
    "processor\t: 0\nmodel name\t: A CPU @ 2.80GHz\ncpu MHz\t\t: 2000.000\nflags\t\t: fpu\n\n"
    "processor\t: 1\nmodel name\t: A CPU @ 2.80GHz\ncpu MHz\t\t: 3000.000\n";

TEST(CpuFacts, NameAndMeanClockComeFromCpuinfo) {
  EXPECT_EQ(cpu_name(kTwoProcessors), "A CPU @ 2.80GHz");
  EXPECT_EQ(cpu_clock_mhz(kTwoProcessors), 2500.0);
}

TEST(CpuFacts, WhatCpuinfoDoesNotSayIsAbsent) {
  EXPECT_EQ(cpu_name("processor\t: 0\n"), "unknown CPU");
  EXPECT_EQ(cpu_clock_mhz("processor\t: 0\n: odd line\n"), std::nullopt);
  EXPECT_EQ(system_text("/proc/no such file"), std::nullopt);
}

TEST(CpuFacts, SizesAreReadWithTheirUnits) {
  EXPECT_EQ(available_memory_bytes("MemTotal: 9 kB\nMemAvailable:      5 kB\n"), 5120);
  EXPECT_EQ(available_memory_bytes("MemTotal: 9 kB\n"), std::nullopt);
  EXPECT_EQ(size_bytes("48K\n"), 48 * 1024);
  EXPECT_EQ(size_bytes("2M"), 2 << 20);
  EXPECT_EQ(size_bytes("none"), std::nullopt);
}

TEST(DeviceCpu, SaysWhatItIs) {
  const auto device = open_cpu_device().value();
  EXPECT_EQ(device->info().backend, kernels::Backend::cpu);
  EXPECT_FALSE(device->info().name.empty());
  EXPECT_GT(device->info().memory_bytes, 0);
  EXPECT_GE(device->info().compute_units, 1);
}

TEST(DeviceCpu, TimesAKernelThatVerifiesAndLeavesCountersOutWithAReason) {
  const auto device = open_cpu_device().value();
  const RankProblem shape{.local_heads = 4, .batch = 2, .context = 100};
  const kernels::Problem problem = kernels::make_problem(shape, 1);
  const auto kernel = device->bind("mla_dense", problem).value();
  kernel->poison().value();
  for (const L2 l2 : {L2::warm, L2::cold}) {
    const Timed timed = device->time(*kernel, {.l2 = l2, .launches = 3}).value();
    ASSERT_EQ(timed.samples_us.size(), 3u);
    for (const double time_us : timed.samples_us) EXPECT_GT(time_us, 0);
    EXPECT_GT(timed.gpu_s, 0);
    EXPECT_GT(device->time_poisoned_us(*kernel, l2).value(), 0);
  }
  EXPECT_TRUE(kernels::verify(*kernel, problem, 0).has_value());
  const Counts counts = device->count(*kernel, {}).value();
  EXPECT_EQ(counts.dram_bytes_read, std::nullopt);
  EXPECT_FALSE(counts.reason.empty());
}

TEST(DeviceCpu, FixedSplitsGiveARequestTheSameBitsWhateverTheBatch) {
  const auto device = open_cpu_device().value();
  for (const int heads : {6, 40}) expect_bits_whatever_the_batch(*device, heads, {1, 3, 9});
}

TEST(DeviceCpu, RefusesWhatItsKernelsCannotRun) {
  const auto device = open_cpu_device().value();
  const RankProblem eight_bits{.context = 10, .kv_dtype = KvDtype::fp8};
  const auto refused = device->bind("mla_dense", kernels::make_problem(eight_bits, 1));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message, "mla_dense on the CPU reads bf16 caches only, not fp8");
  const auto unknown = device->bind("mla_dens", kernels::make_problem(RankProblem{}, 1));
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().message.find("no cpu kernel 'mla_dens'; there are: mla_dense"), 0u);
}

}  // namespace
}  // namespace headsplit::agent
