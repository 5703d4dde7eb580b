#include "agent/stopping.h"

#include <gtest/gtest.h>

#include <vector>

namespace headsplit::agent {
namespace {

const MeasureSettings kSettings{.min_time_ms = 1, .max_noise = 0.01, .max_time_ms = 10};

TEST(Stopping, AsksForAFewSamplesFirst) {
  EXPECT_EQ(should_stop({}, 0, kSettings).launches_next, kSamplesMin);
  EXPECT_EQ(should_stop(std::vector<double>(2, 10), 20, kSettings).launches_next, kSamplesMin - 2);
}

TEST(Stopping, FillsTheMinimumTimeButAtMostDoublesAtOnce) {
  // 5 samples cost 50 us; 950 us are missing, which is 95 more: too many to commit to yet.
  EXPECT_EQ(should_stop(std::vector<double>(5, 10), 50, kSettings).launches_next, 5);
  // 80 samples cost 800 us: 200 us missing.
  EXPECT_EQ(should_stop(std::vector<double>(80, 10), 800, kSettings).launches_next, 20);
}

TEST(Stopping, CountsWhatTheEvictionsCostTowardsTheTime) {
  const auto decision = should_stop(std::vector<double>(20, 10), 1000, kSettings);
  EXPECT_TRUE(decision.stop);
  EXPECT_EQ(decision.reason, "noise");
}

TEST(Stopping, GoesOnWhileTheMedianIsNoisyAndStopsWhenTimeIsUp) {
  std::vector<double> noisy;
  for (int i = 0; i < 100; ++i) noisy.push_back(i % 2 == 0 ? 5 : 50);
  EXPECT_FALSE(should_stop(noisy, 2750, kSettings).stop);
  EXPECT_EQ(should_stop(noisy, 10'000, kSettings).reason, "time");
}

TEST(Stopping, BoundsTheSamplesOfTinyKernels) {
  const auto decision = should_stop(std::vector<double>(kSamplesMax, 1e-3), 2, kSettings);
  EXPECT_TRUE(decision.stop);
  EXPECT_EQ(decision.reason, "samples");
}

}  // namespace
}  // namespace headsplit::agent
