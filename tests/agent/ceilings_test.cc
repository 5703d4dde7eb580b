#include "agent/ceilings.h"

#include <gtest/gtest.h>

namespace headsplit::agent {
namespace {

/// A CPU of two cores with a small cache, always at 2 GHz.
class FakeCpu final : public Device {
 public:
  const DeviceInfo& info() const override { return info_; }
  Result<std::unique_ptr<kernels::BoundKernel>> bind(const std::string&, const kernels::Problem&,
                                                     int) override {
    return fail(ErrorKind::config, "runs no kernels");
  }
  Result<Timed> time(kernels::BoundKernel&, const TimeRequest&) override {
    return fail(ErrorKind::config, "runs no kernels");
  }
  Result<double> time_poisoned_us(kernels::BoundKernel&, L2) override {
    return fail(ErrorKind::config, "runs no kernels");
  }
  Result<Counts> count(kernels::BoundKernel&, const CountMode&) override { return Counts{}; }
  DeviceState state() override {
    return {.sm_clock_mhz = 2000, .throttled = true, .throttle_reason = "a hot day"};
  }

  DeviceInfo info_{.backend = kernels::Backend::cpu,
                   .name = "Fake CPU",
                   .memory_bytes = std::int64_t{1} << 30,
                   .last_level_cache_bytes = std::int64_t{1} << 20,
                   .compute_units = 2};
};

constexpr CeilingSizes kSmall{.read_bytes = 8 << 20, .matmul_size = 64, .launches = 3};

TEST(Ceilings, OfACpuAreMeasuredAndNameTheDevice) {
  FakeCpu device;
  const Ceilings ceilings = measure_ceilings(device, kSmall).value();
  EXPECT_EQ(ceilings.backend, "cpu");
  EXPECT_EQ(ceilings.device, "Fake CPU");
  EXPECT_GT(ceilings.read_gbps.value(), 0);
  EXPECT_GT(ceilings.copy_gbps.value(), 0);
  EXPECT_GT(ceilings.measured_unix_s, 1.7e9);
  EXPECT_GT(ceilings.wall_s, 0);
}

TEST(Ceilings, OfACpuHaveAMatmulOrTheReasonWhyNot) {
  FakeCpu device;
  const Ceilings ceilings = measure_ceilings(device, kSmall).value();
  EXPECT_EQ(ceilings.fp32_tflops.has_value(), ceilings.reason.empty()) << ceilings.reason;
  EXPECT_FALSE(ceilings.bf16_tflops) << "a CPU has no tensor cores";
}

TEST(Ceilings, NoteTheClockAndThrottlingUnderLoad) {
  FakeCpu device;
  const Ceilings ceilings = measure_ceilings(device, kSmall).value();
  if (!ceilings.fp32_tflops) GTEST_SKIP() << ceilings.reason;
  EXPECT_EQ(ceilings.sm_clock_mhz, 2000);
  EXPECT_EQ(ceilings.throttled, true);
  EXPECT_EQ(ceilings.throttle_reason, "a hot day");
}

TEST(Ceilings, SurviveTheWayThroughJson) {
  const Ceilings ceilings{.backend = "cuda", .read_gbps = 4570.5, .throttled = false};
  EXPECT_EQ(value_from_text<Ceilings>(json_text(ceilings)).value(), ceilings);
  EXPECT_TRUE(parse_json(json_text(ceilings)).value().at("bf16_tflops").is_null());
}

TEST(Ceilings, OfAGpuThatIsNotThereAreAnError) {
  FakeCpu device;
  device.info_.backend = kernels::Backend::cuda;
  const auto ceilings = measure_ceilings(device, kSmall);
  if (ceilings) GTEST_SKIP() << "there is a GPU";
  EXPECT_FALSE(ceilings.error().message.empty());
}

TEST(Ceilings, OfAnEarlierWorkerAreTakenOverForAWhile) {
  const DeviceInfo device = FakeCpu().info();
  Ceilings known{.backend = "cpu", .device = "Fake CPU", .read_gbps = 100, .measured_unix_s = 1000};
  const auto good_at = [&](double now_unix_s) {
    return still_good(json_text(known), device, now_unix_s).has_value();
  };
  EXPECT_EQ(still_good(json_text(known), device, 1001), known);
  EXPECT_FALSE(good_at(2000)) << "too old";
  EXPECT_FALSE(good_at(900)) << "the clock was set back";
  known.reason = "no bf16 ceiling";
  EXPECT_FALSE(good_at(1001)) << "worth another try";
  known.reason = "";
  known.device = "another";
  EXPECT_FALSE(good_at(1001));
  EXPECT_FALSE(still_good("", device, 0));
}

}  // namespace
}  // namespace headsplit::agent
