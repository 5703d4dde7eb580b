#include "coordinator/metrics/sweep_figures.h"

#include <gtest/gtest.h>

#include "tests/coordinator/metrics/sample_rows.h"

namespace headsplit::coordinator {
namespace {

LayoutKey key_of(int tp) { return layout_key(sample_row(tp, 1)); }

TEST(SweepFigures, CompareALayoutWithOneRankAlone) {
  SweepFigures figures;
  figures.add(counted_row(1, 400));
  figures.add(counted_row(4, 200));
  const LayoutFigures& tp4 = figures.layouts().at(key_of(4));
  EXPECT_DOUBLE_EQ(tp4.speedup.value().value(), 2);
  EXPECT_NEAR(tp4.reuse_model.value().value(), 0.25, 1e-9);
  EXPECT_NEAR(tp4.reuse_measured.value().value(), 0.25, 1e-9);
  EXPECT_NEAR(tp4.kv_duplication.value().value(), 4, 1e-9);
  EXPECT_NEAR(tp4.kv_duplicated_bytes.value(), 3 * 6.04e8, 1);
  EXPECT_DOUBLE_EQ(figures.layouts().at(key_of(1)).speedup.value().value(), 1);
}

TEST(SweepFigures, AreTheSameInWhicheverOrderRowsCome) {
  SweepFigures forwards;
  forwards.add(sample_row(1, 400));
  forwards.add(sample_row(2, 250));
  SweepFigures backwards;
  backwards.add(sample_row(2, 250));
  backwards.add(sample_row(1, 400));
  EXPECT_EQ(forwards.layouts(), backwards.layouts());
}

TEST(SweepFigures, AreMeansOverCellsThatHaveBothLayouts) {
  SweepFigures figures;
  Row alone = sample_row(1, 400);
  Row split = sample_row(2, 200);
  figures.add(alone);
  figures.add(split);
  alone.context = split.context = 1024;
  alone.time_us = 40;
  split.time_us = 40 / 4.5;
  figures.add(alone);
  figures.add(split);
  split.context = 512;  // no row of one rank alone
  figures.add(split);
  const LayoutFigures& tp2 = figures.layouts().at(key_of(2));
  EXPECT_EQ(tp2.speedup.count, 2);
  EXPECT_NEAR(tp2.speedup.value().value(), 3, 1e-9) << "the geometric mean of 2 and 4.5";
  EXPECT_EQ(tp2.context, 512) << "times are of the latest row";
}

TEST(SweepFigures, NeverCompareTwoDevicesOrTwoRepeats) {
  SweepFigures figures;
  figures.add(sample_row(1, 400));
  Row elsewhere = sample_row(2, 200);
  elsewhere.device = "Another GPU";
  figures.add(elsewhere);
  Row again = sample_row(4, 100);
  again.repeat = 1;
  figures.add(again);
  EXPECT_FALSE(figures.layouts().at(key_of(2)).speedup.value());
  EXPECT_FALSE(figures.layouts().at(key_of(4)).speedup.value());
}

TEST(SweepFigures, LeaveOutWhatRowsDoNotKnow) {
  SweepFigures figures;
  Row bare = sample_row(1, 400);
  bare.roofline_fraction.reset();
  bare.tflops.reset();
  figures.add(bare);
  const LayoutFigures& alone = figures.layouts().at(key_of(1));
  EXPECT_FALSE(alone.intensity_measured || alone.roofline_ratio || alone.flops_per_s);
  Row failed = sample_row(2, 200);
  failed.status = Status::failed;
  figures.add(failed);
  EXPECT_FALSE(figures.layouts().contains(key_of(2)));
}

}  // namespace
}  // namespace headsplit::coordinator
