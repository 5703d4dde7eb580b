#include "cli/progress.h"

#include <gtest/gtest.h>

namespace headsplit::cli {
namespace {

TEST(Progress, ShowsDoneTotalRateAndTimeLeft) {
  const Progress progress{.sweep = "quick", .done = 24, .total = 48, .elapsed_s = 12};
  EXPECT_EQ(progress_line(progress, 60),
            "quick [##############--------------] 24/48  2.0/s  ETA 0:12");
}

TEST(Progress, CountsResumedPointsAsDoneButNotIntoTheRate) {
  const Progress progress{
      .sweep = "quick", .done = 30, .total = 48, .resumed = 24, .elapsed_s = 12};
  EXPECT_DOUBLE_EQ(rate_per_s(progress), 0.5);
  EXPECT_DOUBLE_EQ(eta_s(progress), 36);
  EXPECT_NE(progress_line(progress, 100).find("30.0/min"), std::string::npos);
  EXPECT_NE(progress_line(progress, 100).find("24 resumed"), std::string::npos);
}

TEST(Progress, PromisesNoTimeLeftBeforeTheFirstPoint) {
  const Progress progress{.sweep = "quick", .total = 48, .elapsed_s = 3};
  EXPECT_EQ(progress_line(progress, 100).find("ETA"), std::string::npos);
}

TEST(Progress, StaysWithinTheTerminal) {
  const Progress progress{.sweep = "a-rather-long-name-of-a-sweep",
                          .done = 999,
                          .total = 1000,
                          .failed = 3,
                          .elapsed_s = 5000};
  for (const int columns : {1, 10, 40, 79, 200}) {
    EXPECT_LE(progress_line(progress, columns).size(), static_cast<std::size_t>(columns));
  }
}

TEST(Progress, WritesLongTimesWithHours) {
  EXPECT_EQ(clock_text(65), "1:05");
  EXPECT_EQ(clock_text(7384), "2:03:04");
}

}  // namespace
}  // namespace headsplit::cli
