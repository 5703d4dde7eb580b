#include "agent/run_point.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "tests/agent/fake_device.h"

namespace headsplit::agent {
namespace {

const Ceilings kCeilings{.read_gbps = 100, .bf16_tflops = 1, .fp8_tflops = 2};

Lease small_lease() {
  Lease lease;
  lease.point = {.layout = {.tp = 4}, .batch = 2, .context = 64};
  lease.point_id = point_id(lease.point);
  lease.epoch = 3;
  lease.problem = {.local_heads = 2, .batch = 2, .context = 64};
  lease.measure = {.min_time_ms = 1, .max_noise = 0.05};
  return lease;
}

Row run_with(FakeDevice::Script script, const Lease& lease = small_lease()) {
  FakeDevice device(std::move(script));
  ProblemMemory memory;
  return run_point(device, kCeilings, lease, memory);
}

TEST(RunPoint, ReportsTheMedianOfVerifiedLaunches) {
  const Row row =
      run_with({.time_us = [](int launch) { return launch % 10 == 9 ? 900.0 : 100.0; }});
  EXPECT_EQ(row.status, Status::ok) << row.reason;
  EXPECT_EQ(row.time_us, 100);
  EXPECT_GE(row.samples_us.size(), 5u);
  EXPECT_LE(row.error_vs_reference, 1);
  EXPECT_FALSE(row.stop_reason.empty());
  EXPECT_EQ(row.epoch, 3);
  EXPECT_EQ(row.layout, "tp4");
}

TEST(RunPoint, DerivesIntensityAndRatesFromTheFormula) {
  const Row row = run_with({});
  // 2 requests x 64 tokens, 2 heads: 2 x 2 x 64 x 2 x (576 + 512) FLOPs, 1152 bytes a token, and
  // (576 + 512) x 2 bytes of Q and O a head.
  EXPECT_DOUBLE_EQ(*row.flops, 2.0 * 2 * 64 * 2 * 1088);
  EXPECT_DOUBLE_EQ(*row.hbm_bytes_model, 2.0 * 64 * 1152 + 2 * 2 * 1088 * 2);
  EXPECT_DOUBLE_EQ(*row.intensity_model, *row.flops / *row.hbm_bytes_model);
  EXPECT_DOUBLE_EQ(*row.gbps, *row.hbm_bytes_model / 100e-6 * 1e-9);
}

TEST(RunPoint, PutsTheTimeBesideTheDevicesOwnRoof) {
  const Row row = run_with({});
  EXPECT_EQ(row.read_ceiling_gbps, 100);
  EXPECT_EQ(row.matmul_ceiling_tflops, 1);
  const double least_s = std::max(*row.hbm_bytes_model / 100e9, *row.flops / 1e12);
  EXPECT_DOUBLE_EQ(*row.roofline_fraction, least_s / 100e-6);
  EXPECT_EQ(row.limiter, Limiter::overhead);  // 2 % of the roof
}

TEST(RunPoint, NamesTheResourceThatLimits) {
  const Row row = run_with({.time_us = [](int) { return 2.0; }});
  EXPECT_EQ(row.limiter, Limiter::memory);
  const Row counted = run_with({.time_us = [](int) { return 2.0; }, .counts = {.tensor_ops = 2e6}});
  EXPECT_EQ(counted.limiter, Limiter::tensor);  // padded rows keep the tensor pipe busy
}

TEST(RunPoint, NamesDequantisationWhereAnFp8CacheTakesMostIssueSlots) {
  FakeDevice device({.time_us = [](int) { return 2.0; }, .counts = {.issue_active_ratio = 0.9}});
  ProblemMemory memory;
  Lease lease = small_lease();
  EXPECT_EQ(run_point(device, kCeilings, lease, memory).limiter, Limiter::memory);
  lease.point.kv_dtype = KvDtype::fp8;
  lease.problem.kv_dtype = KvDtype::fp8;
  const Row row = run_point(device, kCeilings, lease, memory);
  EXPECT_EQ(row.issue_active_ratio, 0.9);
  EXPECT_EQ(row.limiter, Limiter::dequantisation);
}

TEST(RunPoint, PutsProductsInFp8BesideTheFp8Matmul) {
  EXPECT_EQ(run_with({}).matmul_ceiling_tflops, 1);
  const Row row = run_with({.arithmetic = kernels::Arithmetic::e4m3});
  EXPECT_EQ(row.matmul_ceiling_tflops, 2);
}

TEST(RunPoint, TakesMeasuredIntensityFromCountersAndSaysSo) {
  const Row row = run_with({.counts = {.dram_bytes_read = 1e6, .dram_bytes_written = 1e5}});
  EXPECT_DOUBLE_EQ(*row.intensity_measured, *row.flops / 1.1e6);
  EXPECT_EQ(row.intensity_source, Provenance::measured);
}

TEST(RunPoint, LeavesMissingCountersAbsentWithAReason) {
  const Row row = run_with({});
  EXPECT_EQ(row.status, Status::ok);
  EXPECT_FALSE(row.dram_bytes_read);
  EXPECT_FALSE(row.intensity_measured);
  EXPECT_EQ(row.intensity_source, Provenance::model);
  EXPECT_EQ(row.counters_reason, "the fake counts nothing");
}

TEST(RunPoint, FailsAKernelThatIsWrongAndDoesNotTimeIt) {
  const Row row = run_with({.output_error = 0.5});
  EXPECT_EQ(row.status, Status::failed);
  EXPECT_FALSE(row.time_us);
  EXPECT_FALSE(row.reason.empty());
}

TEST(RunPoint, FailsAKernelThatWritesNothing) {
  EXPECT_EQ(run_with({.writes_output = false}).status, Status::failed);
}

TEST(RunPoint, FailsAKernelThatDoesNothingWhenItIsTimed) {
  const Row row = run_with({.cheats = true});
  EXPECT_EQ(row.status, Status::failed);
  EXPECT_EQ(row.reason.find("right when checked, wrong when timed: row 0"), 0u) << row.reason;
  EXPECT_FALSE(row.time_us) << "its times are no results";
  EXPECT_TRUE(row.samples_us.empty());
}

TEST(RunPoint, MakesTheReferenceOfARankProblemOnce) {
  FakeDevice device({});
  ProblemMemory memory;
  Lease lease = small_lease();
  run_point(device, kCeilings, lease, memory);
  lease.point.repeat = 1;
  EXPECT_LE(run_point(device, kCeilings, lease, memory).error_vs_reference, 1);
  EXPECT_EQ(device.references_made, 1);
  lease.problem.local_heads = 1;
  run_point(device, kCeilings, lease, memory);
  lease.seed = 2;
  run_point(device, kCeilings, lease, memory);
  EXPECT_EQ(device.references_made, 3);
}

TEST(RunPoint, StillChecksEveryPointAgainstARememberedReference) {
  ProblemMemory memory;
  FakeDevice right({});
  EXPECT_EQ(run_point(right, kCeilings, small_lease(), memory).status, Status::ok);
  FakeDevice wrong({.output_error = 0.5});
  EXPECT_EQ(run_point(wrong, kCeilings, small_lease(), memory).status, Status::failed);
}

TEST(RunPoint, CountsTheSameLaunchOnceAndSaysWhere) {
  FakeDevice device({.counts = {.dram_bytes_read = 1e6, .all = {{"dram__bytes_read.sum", 1e6}}}});
  ProblemMemory memory;
  Lease lease = small_lease();
  const Row first = run_point(device, kCeilings, lease, memory);
  EXPECT_EQ(first.counted_point, lease.point_id);
  lease.point.repeat = 1;
  lease.point_id = point_id(lease.point);
  const Row second = run_point(device, kCeilings, lease, memory);
  EXPECT_EQ(second.dram_bytes_read, 1e6);
  EXPECT_EQ(second.counted_point, first.counted_point);
  EXPECT_EQ(device.counted.size(), 1u);
  lease.measure.counters_detail = true;
  run_point(device, kCeilings, lease, memory);
  EXPECT_EQ(device.counted.size(), 2u) << "another set of counters";
}

TEST(RunPoint, BindsTheKernelWithTheSplitsThatThePointFixes) {
  FakeDevice device({.counts = {.dram_bytes_read = 1e6, .all = {{"dram__bytes_read.sum", 1e6}}}});
  ProblemMemory memory;
  Lease lease = small_lease();
  EXPECT_EQ(run_point(device, kCeilings, lease, memory).fixed_splits, 0);
  lease.point.fixed_splits = 4;
  lease.point_id = point_id(lease.point);
  EXPECT_EQ(run_point(device, kCeilings, lease, memory).fixed_splits, 4);
  EXPECT_EQ(device.bound_with_splits, (std::vector{0, 4}));
  EXPECT_EQ(device.counted.size(), 2u) << "another launch, so counted anew";
}

TEST(RunPoint, TriesAgainToCountWhatCouldNotBeCounted) {
  FakeDevice device({});
  ProblemMemory memory;
  EXPECT_EQ(run_point(device, kCeilings, small_lease(), memory).counted_point, "");
  run_point(device, kCeilings, small_lease(), memory);
  EXPECT_EQ(device.counted.size(), 2u);
}

TEST(RunPoint, AsksForTheDetailCountersAndSaysWhenLaunchesCannotBeRepeated) {
  FakeDevice device({});
  ProblemMemory memory;
  Lease lease = small_lease();
  lease.measure.counters_detail = true;
  lease.point.ranks = Ranks::real;
  run_point(device, kCeilings, lease, memory);
  ASSERT_EQ(device.counted.size(), 1u);
  EXPECT_TRUE(device.counted[0].detail);
  EXPECT_FALSE(device.counted[0].repeatable);
}

TEST(RunPoint, CountsAnFp8CacheWithTheDetailSetWhichHasTheF16Operations) {
  FakeDevice device({});
  ProblemMemory memory;
  Lease lease = small_lease();
  lease.point.kv_dtype = KvDtype::fp8;
  lease.problem.kv_dtype = KvDtype::fp8;
  run_point(device, kCeilings, lease, memory);
  ASSERT_EQ(device.counted.size(), 1u);
  EXPECT_TRUE(device.counted[0].detail);
}

TEST(RunPoint, SaysHowLongTheDeviceWorked) {
  const Row row = run_with({});
  const double samples_s = static_cast<double>(row.samples_us.size()) * 100e-6;
  // The samples, five launches with a warm cache, and the one that is checked.
  EXPECT_NEAR(row.gpu_s, samples_s + 6 * 100e-6, 1e-9);
  EXPECT_GE(samples_s, 1e-3) << "min_time_ms is time of the device";
}

TEST(RunPoint, LetsClocksSettleBeforeSustainedSamples) {
  Lease lease = small_lease();
  lease.measure.mode = MeasureMode::sustained;
  int launches = 0;
  const Row row = run_with({.time_us =
                                [&](int) {
                                  ++launches;
                                  return 100.0;
                                }},
                           lease);
  EXPECT_EQ(row.measure_mode, MeasureMode::sustained);
  EXPECT_GT(launches, 100 * static_cast<int>(row.samples_us.size()))
      << "launches that are no samples";
}

TEST(RunPoint, FailsWithTheErrorOfTheLaunch) {
  const Row row = run_with({.launch_result = fail(ErrorKind::cuda, "illegal address")});
  EXPECT_EQ(row.status, Status::failed);
  EXPECT_NE(row.reason.find("illegal address"), std::string::npos);
}

TEST(RunPoint, SkipsWhatDoesNotFitAndSaysHowManyBytesItNeeds) {
  const Row row = run_with({.memory_bytes = 1000});
  EXPECT_EQ(row.status, Status::skipped);
  EXPECT_NE(row.reason.find("1000 are free"), std::string::npos) << row.reason;
}

TEST(RunPoint, SkipsAKernelThatThisDeviceDoesNotHave) {
  Lease lease = small_lease();
  lease.point.kernel = "mla_dream";
  EXPECT_EQ(run_with({}, lease).status, Status::skipped);
}

TEST(RunPoint, TimesSplitAndCombineApartWhenThereAreSplits) {
  const Row row = run_with({.num_splits = 4});
  EXPECT_DOUBLE_EQ(*row.split_us, 75);
  EXPECT_DOUBLE_EQ(*row.combine_us, 25);
  EXPECT_FALSE(run_with({.num_splits = 1}).split_us);
}

TEST(RunPoint, FlagsThrottledSamplesAndKeepsThem) {
  const Row row = run_with(
      {.state = [] { return DeviceState{.throttled = true, .throttle_reason = "power cap"}; }});
  EXPECT_EQ(row.status, Status::ok);
  EXPECT_EQ(row.throttled, true);
  EXPECT_EQ(row.throttle_reason, "power cap");
  EXPECT_TRUE(row.time_us);
}

TEST(RunPoint, TakesSamplesWhileASlowReadingOfTheClockGoesOn) {
  constexpr int kLaunchesMeanwhile = 100;  // of several batches
  std::promise<void> launched;
  Lease lease = small_lease();
  lease.measure.min_time_ms = 500;
  const Row row = run_with({.time_us =
                                [&](int launch) {
                                  if (launch == kLaunchesMeanwhile) launched.set_value();
                                  return 1000.0;
                                },
                            .state =
                                [meanwhile = launched.get_future().share()] {
                                  const auto state = meanwhile.wait_for(std::chrono::seconds(10));
                                  const bool went_on = state == std::future_status::ready;
                                  return DeviceState{.sm_clock_mhz = went_on ? 1980 : 0};
                                }},
                           lease);
  EXPECT_EQ(row.sm_clock_mhz, 1980);
  EXPECT_EQ(row.status, Status::ok) << row.reason;
}

TEST(RunPoint, LeavesTheThrottleFlagAbsentWhereTheDeviceCannotTell) {
  EXPECT_FALSE(run_with({}).throttled.has_value());
}

}  // namespace
}  // namespace headsplit::agent
