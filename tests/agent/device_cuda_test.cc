#include "agent/device_cuda.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/stats.h"
#include "kernels/verify.h"
#include "tests/agent/fixed_splits.h"

namespace headsplit::agent {
namespace {

using kernels::Part;

TEST(DeviceCuda, SaysWhatItIs) {
  const auto device = open_cuda_device().value();
  const DeviceInfo& info = device->info();
  EXPECT_EQ(info.backend, kernels::Backend::cuda);
  EXPECT_FALSE(info.name.empty());
  EXPECT_EQ(info.gpu_uuid.size(), std::string("GPU-01234567-0123-0123-0123-0123456789ab").size());
  EXPECT_GT(info.memory_bytes, std::int64_t{1} << 30);
  EXPECT_GT(info.last_level_cache_bytes, 0);
  EXPECT_GT(info.compute_units, 0);
}

TEST(DeviceCuda, TimesShortAndLongLaunchesAndLeavesTheirOutputsRight) {
  const auto device = open_cuda_device().value();
  for (const auto& [batch, context] : {std::pair{1, 500}, {64, 8192}}) {
    const RankProblem shape{.local_heads = 16, .batch = batch, .context = context};
    const kernels::Problem problem = kernels::make_problem(shape, 1);
    const auto kernel = device->bind("mla_dense", problem).value();
    kernel->poison().value();
    for (const L2 l2 : {L2::warm, L2::cold}) {
      for (const Part part : {Part::all, Part::split, Part::combine}) {
        const Timed timed = device->time(*kernel, {part, l2, 20}).value();
        ASSERT_EQ(timed.samples_us.size(), 20u);
        for (const double time_us : timed.samples_us) EXPECT_GT(time_us, 0);
        EXPECT_GT(timed.gpu_s, 0);
      }
    }
    EXPECT_TRUE(kernels::verify(*kernel, problem, 4).has_value());
  }
}

TEST(DeviceCuda, FixedSplitsGiveARequestTheSameBitsWhateverTheBatch) {
  const auto device = open_cuda_device().value();
  for (const int heads : {8, 16, 40, 128}) {
    expect_bits_whatever_the_batch(*device, heads, {1, 3, 12});
  }
}

TEST(DeviceCuda, CountsNoFewerBytesThanTheCacheHasOrSaysWhyNot) {
  const auto device = open_cuda_device().value();
  const RankProblem shape{.local_heads = 16, .batch = 64, .context = 4096};
  const kernels::Problem problem = kernels::make_problem(shape, 1);
  const auto kernel = device->bind("mla_dense", problem).value();
  kernel->launch(Part::all).value();
  const Counts counts = device->count(*kernel, {}).value();
  if (!counts.dram_bytes_read) {
    EXPECT_FALSE(counts.reason.empty());
    return;
  }
  const kernels::Work work = kernels::work(problem);
  EXPECT_NEAR(*counts.dram_bytes_read / work.kv_bytes, 1.0, 0.03);
  ASSERT_TRUE(counts.tensor_ops.has_value());
  EXPECT_EQ(*counts.tensor_ops, work.flops);
}

TEST(DeviceCuda, CountsTheDetailSetOfALaunchThatMayBeRepeated) {
  const auto device = open_cuda_device().value();
  const RankProblem shape{.local_heads = 16, .batch = 64, .context = 4096};
  const auto kernel = device->bind("mla_dense", kernels::make_problem(shape, 1)).value();
  kernel->launch(Part::all).value();
  const Counts counts = device->count(*kernel, {.detail = true}).value();
  if (!counts.reason.empty()) GTEST_SKIP() << counts.reason;
  EXPECT_GT(counts.tensor_active_ratio.value(), 0);
  EXPECT_GT(counts.occupancy.value(), 0);
  EXPECT_LT(counts.l2_hit_ratio.value(), 0.9) << "a cache that is streamed once";
  const auto refused = device->count(*kernel, {.detail = true, .repeatable = false});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::config);
}

TEST(DeviceCuda, RefusesWhatItsKernelsCannotRun) {
  const auto device = open_cuda_device().value();
  const RankProblem narrow{.context = 10, .d_latent = 384};
  const auto refused = device->bind("mla_dense", kernels::make_problem(narrow, 1));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::config);
}

TEST(DeviceCuda, MoreThanItsMemoryIsAnErrorAfterWhichItGoesOn) {
  const auto device = open_cuda_device().value();
  const RankProblem huge{.local_heads = 16, .batch = 4096, .context = 65536};
  const auto refused = device->bind("mla_dense", kernels::make_problem(huge, 1));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::cuda);
  EXPECT_NE(refused.error().message.find("cudaErrorMemoryAllocation"), std::string::npos);
  const RankProblem small{.local_heads = 16, .context = 100};
  EXPECT_TRUE(device->bind("mla_dense", kernels::make_problem(small, 1)).has_value());
}

}  // namespace
}  // namespace headsplit::agent
