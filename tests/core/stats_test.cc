#include "core/stats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace headsplit {
namespace {

TEST(Stats, InterpolatesQuantilesBetweenSamples) {
  EXPECT_DOUBLE_EQ(quantile(std::vector<double>{4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile(std::vector<double>{10}, 0.9), 10);
  EXPECT_DOUBLE_EQ(quantile(std::vector<double>{0, 10}, 0.1), 1);
}

TEST(Stats, GivesConstantSamplesNoNoise) {
  const Summary summary = summarise(std::vector<double>(20, 7.0));
  EXPECT_EQ(summary.median, 7);
  EXPECT_EQ(summary.noise, 0);
  EXPECT_EQ(summary.ci_low, 7);
  EXPECT_EQ(summary.ci_high, 7);
}

TEST(Stats, OneOutlierDoesNotMoveTheMedian) {
  std::vector<double> samples(21, 100.0);
  samples[3] = 1e6;
  EXPECT_EQ(summarise(samples).median, 100);
}

TEST(Stats, TheIntervalCoversTheTrueMedianNineteenTimesInTwenty) {
  std::mt19937_64 generator(1);
  std::lognormal_distribution<double> draw(0, 0.5);  // true median 1
  int covered = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> samples(31);
    for (double& sample : samples) sample = draw(generator);
    const Summary summary = summarise(samples);
    covered += summary.ci_low <= 1 && 1 <= summary.ci_high;
  }
  EXPECT_GT(covered, kTrials * 0.94);
}

TEST(Stats, TakesTheGeometricMeanOfRatios) {
  EXPECT_NEAR(geometric_mean(std::vector<double>{0.5, 2.0}), 1.0, 1e-12);
}

}  // namespace
}  // namespace headsplit
