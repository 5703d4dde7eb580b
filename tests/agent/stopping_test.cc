#include "agent/stopping.h"

#include <gtest/gtest.h>

#include <vector>

namespace headsplit::agent {
namespace {

const MeasureSettings kSettings{.min_time_ms = 1, .max_noise = 0.01, .max_time_ms = 10};

TEST(Stopping, AsksForAFewSamplesFirst) {
  EXPECT_EQ(should_stop({}, kSettings).launches_next, kSamplesMin);
  EXPECT_EQ(should_stop(std::vector<double>(2, 1e4 - 1), kSettings).stop, true);
}

TEST(Stopping, FillsTheMinimumTimeButAtMostDoublesAtOnce) {
  // 5 samples of 10 us are in; 950 us are missing, which is 95 more: too many to commit to yet.
  EXPECT_EQ(should_stop(std::vector<double>(5, 10), kSettings).launches_next, 5);
  // 80 samples of 10 us: 200 us missing.
  EXPECT_EQ(should_stop(std::vector<double>(80, 10), kSettings).launches_next, 20);
}

TEST(Stopping, StopsWhenTheMedianIsQuiet) {
  const auto decision = should_stop(std::vector<double>(100, 10), kSettings);
  EXPECT_TRUE(decision.stop);
  EXPECT_EQ(decision.reason, "noise");
}

TEST(Stopping, GoesOnWhileTheMedianIsNoisyAndStopsWhenTimeIsUp) {
  std::vector<double> noisy;
  for (int i = 0; i < 100; ++i) noisy.push_back(i % 2 == 0 ? 5 : 50);
  EXPECT_FALSE(should_stop(noisy, kSettings).stop);
  while (noisy.size() < 500) noisy.push_back(noisy[noisy.size() - 100]);
  EXPECT_EQ(should_stop(noisy, kSettings).reason, "time");
}

TEST(Stopping, BoundsTheSamplesOfTinyKernels) {
  const auto decision = should_stop(std::vector<double>(kSamplesMax, 1e-3), kSettings);
  EXPECT_TRUE(decision.stop);
  EXPECT_EQ(decision.reason, "samples");
}

}  // namespace
}  // namespace headsplit::agent
