#include "tp/device.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tp/attention_cost.h"
#include "tp/mixed_cost.h"
#include "tp/roofline.h"

namespace headsplit::tp {
namespace {

double ridge(const char* name) { return rates_of(read_device(name).value()).ridge(); }

// Ridge = dense BF16 peak / HBM bandwidth (arithmetic-intensity page, section 1).
TEST(Golden, RidgesOfHopperAndBlackwell) {
  EXPECT_NEAR(ridge("h100"), 295, 0.5);
  EXPECT_NEAR(ridge("h200"), 206, 0.5);
  EXPECT_NEAR(ridge("b200"), 281, 0.5);
  EXPECT_NEAR(ridge("h800-throttled"), 258, 0.5);
}

TEST(Devices, AllNameTheirSources) {
  const auto devices = read_devices().value();
  EXPECT_GE(devices.size(), 8u);
  for (const auto& device : devices) EXPECT_FALSE(device.sources.empty()) << device.name;
}

TEST(Devices, AreFoundByWhatTheDriverCallsThem) {
  EXPECT_EQ(read_device("NVIDIA H200").value().name, "h200");
}

TEST(Devices, NameTheNearestWhenUnknown) {
  const auto device = read_device("h2000");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().message.find("device 'h2000': unknown; did you mean 'h200'"), 0u);
}

TEST(Devices, GiveWayToMeasuredCeilings) {
  const Device device =
      with_ceilings(read_device("h200").value(), {.read_gbps = 4569, .bf16_tflops = 785});
  EXPECT_EQ(device.bf16_tflops, 785);
  EXPECT_EQ(device.hbm_gbps, 4569);
  EXPECT_EQ(device.fp8_tflops, 1979);
  EXPECT_EQ(device.provenance, Provenance::measured);
  EXPECT_EQ(with_ceilings(device, {}), device);
}

TEST(Devices, NameFileLineAndFieldOfAFault) {
  const auto error_of = [](const std::string& text) {
    const auto devices = devices_from_yaml(text, "devices.yaml");
    return devices ? "no error" : devices.error().message;
  };
  EXPECT_EQ(error_of("h1:\n  bf16_tflop: 3\n").find("devices.yaml:2:3: h1: unknown field"), 0u);
  EXPECT_EQ(error_of("h1:\n  title: a\n").find("devices.yaml:2:3: h1: no reported_as"), 0u);
  EXPECT_EQ(error_of("h1: [").find("devices.yaml:"), 0u);
  EXPECT_EQ(error_of("h1: 3").find("devices.yaml:1:5: h1: expected a mapping"), 0u);
  EXPECT_EQ(error_of("h1:\n  title: a\n  reported_as: []\n  bf16_tflops: 0\n")
                .find("devices.yaml:4:16: h1.bf16_tflops: expected a number of at least"),
            0u);
}

TEST(Roofline, IsTheSlowestResource) {
  const Rates rates{.bf16_flop_per_us = 100,
                    .fp8_flop_per_us = 200,
                    .byte_per_us = 10,
                    .dequant_value_per_us = 5,
                    .floor_us = 2};
  EXPECT_EQ(roofline({.flops = 1000, .kv_bytes = 200}, rates).limiter, Limiter::memory);
  EXPECT_EQ(roofline({.flops = 1000, .kv_bytes = 200}, rates).time_us, 20);
  EXPECT_EQ(roofline({.flops = 4000, .kv_bytes = 200}, rates).limiter, Limiter::tensor);
  EXPECT_EQ(roofline({.flops = 4000, .fp8_flops = 4000, .kv_bytes = 200}, rates).tensor_us, 20);
  EXPECT_EQ(roofline({.kv_bytes = 200, .dequant_values = 150}, rates).limiter,
            Limiter::dequantisation);
  EXPECT_EQ(roofline({.flops = 1, .kv_bytes = 1}, rates).limiter, Limiter::overhead);
}

// Claims of the roofline notes, sections 5 and 8, on the data sheet of an H200.
TEST(Roofline, TellsTheRegimesOfTheRooflineNotes) {
  const Rates h200 = rates_of(read_device("h200").value());
  const auto limiter = [&](int heads, int query_tokens, KvDtype dtype) {
    const RankProblem problem{.local_heads = heads,
                              .batch = 128,
                              .query_tokens = query_tokens,
                              .context = 8192,
                              .kv_dtype = dtype};
    return roofline(mla_dense_work(problem), h200).limiter;
  };
  EXPECT_EQ(limiter(128, 2, KvDtype::bf16), Limiter::tensor);
  EXPECT_EQ(limiter(16, 1, KvDtype::bf16), Limiter::memory);
  EXPECT_EQ(limiter(64, 1, KvDtype::bf16), Limiter::memory);
  EXPECT_EQ(limiter(16, 1, KvDtype::fp8), Limiter::dequantisation);
  EXPECT_EQ(limiter(64, 1, KvDtype::fp8), Limiter::dequantisation);
}

TEST(BestMixed, MinimisesTheTimeOverEveryN) {
  const Rates h200 = rates_of(read_device("h200").value());
  for (const int query_tokens : {1, 4, 16, 64, 256}) {
    const RankProblem problem{
        .local_heads = 128, .batch = 32, .query_tokens = query_tokens, .context = 1024};
    double least_us = INFINITY;
    for (std::int64_t n = 0; n <= problem.context; ++n) {
      least_us = std::min(least_us, roofline(mla_mixed_work(problem, n), h200).time_us);
    }
    EXPECT_NEAR(best_mixed(problem, h200).time_us / least_us, 1, 1e-12) << query_tokens;
  }
}

}  // namespace
}  // namespace headsplit::tp
