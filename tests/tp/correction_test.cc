#include "tp/correction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tp/attention_cost.h"

namespace headsplit::tp {
namespace {

struct Measured {
  int batch;
  int query_tokens;
  int heads;
  std::int64_t context;
  double time_us;
};

// FlashMLA 9241ae3 on an H200, dense BF16, cold L2, split and combine kernel, median of 15.
// A coarse grid to learn from ...
const Measured kLearned[] = {
    {1, 1, 128, 1024, 19.8},     {16, 1, 128, 1024, 30.5},     {128, 1, 128, 1024, 82.7},
    {1, 1, 128, 16384, 45.4},    {16, 1, 128, 16384, 131.9},   {128, 1, 128, 16384, 897.6},
    {1, 1, 128, 65536, 59.4},    {16, 1, 128, 65536, 447.1},   {1, 4, 128, 1024, 23.2},
    {16, 4, 128, 1024, 48.9},    {128, 4, 128, 1024, 325.4},   {1, 4, 128, 16384, 58.1},
    {16, 4, 128, 16384, 431.7},  {128, 4, 128, 16384, 3590.9}, {1, 4, 128, 65536, 141.8},
    {16, 4, 128, 65536, 1766.3}, {1, 1, 32, 1024, 19.3},       {16, 1, 32, 1024, 24.9},
    {128, 1, 32, 1024, 58.4},    {1, 1, 32, 16384, 51.4},      {16, 1, 32, 16384, 98.1},
    {128, 1, 32, 16384, 614.2},  {1, 1, 32, 65536, 65.6},      {16, 1, 32, 65536, 322.5},
    {1, 4, 32, 1024, 21.2},      {16, 4, 32, 1024, 31.3},      {128, 4, 32, 1024, 87.7},
    {1, 4, 32, 16384, 46.9},     {16, 4, 32, 16384, 134.1},    {128, 4, 32, 16384, 899.6},
    {1, 4, 32, 65536, 62.7},     {16, 4, 32, 65536, 454.0},    {1, 1, 8, 1024, 15.9},
    {16, 1, 8, 1024, 21.3},      {128, 1, 8, 1024, 56.6},      {1, 1, 8, 16384, 46.1},
    {16, 1, 8, 16384, 95.4},     {128, 1, 8, 16384, 601.0},    {1, 1, 8, 65536, 62.1},
    {16, 1, 8, 65536, 318.6},    {1, 4, 8, 1024, 17.2},        {16, 4, 8, 1024, 24.6},
    {128, 4, 8, 1024, 57.6},     {1, 4, 8, 16384, 47.5},       {16, 4, 8, 16384, 96.3},
    {128, 4, 8, 16384, 611.2},   {1, 4, 8, 65536, 64.3},       {16, 4, 8, 65536, 320.8},
};

// ... and points of the full grid that were left out.
const Measured kHeldOut[] = {
    {64, 1, 128, 4096, 126.3},  {64, 1, 128, 16384, 462.1}, {64, 1, 128, 65536, 1745.0},
    {64, 2, 128, 4096, 242.6},  {64, 2, 128, 16384, 853.3}, {64, 2, 128, 65536, 3497.9},
    {16, 1, 64, 4096, 48.7},    {64, 1, 64, 4096, 106.3},   {128, 1, 64, 4096, 172.1},
    {64, 1, 64, 16384, 329.7},  {64, 1, 64, 65536, 1175.0}, {16, 2, 64, 4096, 51.6},
    {64, 2, 64, 4096, 134.2},   {128, 2, 64, 4096, 260.4},  {64, 2, 64, 16384, 463.8},
    {64, 2, 64, 65536, 2014.8}, {16, 1, 16, 4096, 41.1},    {64, 1, 16, 4096, 101.2},
    {128, 1, 16, 4096, 172.9},  {64, 1, 16, 16384, 328.4},  {64, 1, 16, 65536, 1152.6},
    {16, 2, 16, 4096, 41.1},    {64, 2, 16, 4096, 97.0},    {128, 2, 16, 4096, 168.2},
    {64, 2, 16, 16384, 322.3},  {64, 2, 16, 65536, 1157.6},
};

Model v3() { return read_model("deepseek-v3").value(); }
Device h200() { return read_device("h200").value(); }

RankProblem problem_of(const Measured& m) {
  return {.local_heads = m.heads,
          .batch = m.batch,
          .query_tokens = m.query_tokens,
          .context = m.context};
}

Row row_of(const Measured& m) {
  Row row;
  row.status = Status::ok;
  row.device = "NVIDIA H200";
  row.model = "deepseek-v3";
  row.kernel = "mla_dense";
  row.local_heads = m.heads;
  row.rank_batch = m.batch;
  row.rank_context = m.context;
  row.query_tokens = m.query_tokens;
  row.time_us = m.time_us;
  row.flops = mla_dense_work(problem_of(m)).flops;
  return row;
}

std::vector<Row> learned_rows() {
  std::vector<Row> rows;
  for (const auto& m : kLearned) rows.push_back(row_of(m));
  return rows;
}

TEST(TimeModel, PredictsHeldOutPointsOfARealKernelFromACoarseGrid) {
  const TimeModel times(h200(), v3(), learned_rows());
  EXPECT_EQ(times.row_count(), std::size(kLearned));
  std::vector<double> errors;
  for (const auto& m : kHeldOut) {
    const RankProblem problem = problem_of(m);
    const Estimate estimate = times.estimate("mla_dense", problem, mla_dense_work(problem));
    EXPECT_EQ(estimate.source, Provenance::model);
    errors.push_back(std::abs(estimate.time_us / m.time_us - 1));
  }
  std::sort(errors.begin(), errors.end());
  EXPECT_LT(errors[errors.size() / 2], 0.10) << "median";
  EXPECT_LT(errors.back(), 0.25) << "worst";
}

TEST(TimeModel, GivesAMeasuredPointBackAndSaysSo) {
  const TimeModel times(h200(), v3(), learned_rows());
  const RankProblem problem = problem_of(kLearned[5]);
  const Estimate estimate = times.estimate("mla_dense", problem, mla_dense_work(problem));
  EXPECT_EQ(estimate.source, Provenance::measured);
  EXPECT_EQ(estimate.time_us, kLearned[5].time_us);
}

TEST(TimeModel, TakesTheMedianOfRepeats) {
  std::vector<Row> rows;
  for (const double time_us : {30.0, 10.0, 20.0}) {
    rows.push_back(row_of({1, 1, 16, 1024, time_us}));
    rows.back().repeat = static_cast<int>(rows.size());
  }
  const TimeModel times(h200(), v3(), rows);
  EXPECT_EQ(times.row_count(), 1u);
  const RankProblem problem = problem_of({1, 1, 16, 1024, 0});
  EXPECT_EQ(times.estimate("mla_dense", problem, mla_dense_work(problem)).time_us, 20);
}

TEST(TimeModel, LeavesOutRowsOfOtherDevicesWidthsAndOutcomes) {
  Row other_device = row_of(kLearned[0]);
  other_device.device = "NVIDIA B200";
  Row other_widths = row_of(kLearned[0]);
  other_widths.flops = *other_widths.flops * 0.9;
  Row failed = row_of(kLearned[0]);
  failed.status = Status::failed;
  Row untimed = row_of(kLearned[0]);
  untimed.time_us.reset();
  const TimeModel times(h200(), v3(), {other_device, other_widths, failed, untimed});
  EXPECT_EQ(times.row_count(), 0u);
  const RankProblem problem = problem_of(kLearned[0]);
  const Work work = mla_dense_work(problem);
  const Estimate estimate = times.estimate("mla_dense", problem, work);
  EXPECT_EQ(estimate.basis, "data sheet");
  EXPECT_EQ(estimate.time_us, roofline(work, times.rates()).time_us);
}

TEST(TimeModel, UsesRowsOfAnotherModelWithTheSameWidths) {
  Row row = row_of({64, 1, 64, 8192, 300});
  row.model = "kimi-k2";
  EXPECT_EQ(TimeModel(h200(), v3(), {row}).row_count(), 1u);
}

TEST(CeilingsOfRows, AreTheMediansOfWhatTheDeviceMeasuredOfItself) {
  std::vector<Row> rows = {row_of(kLearned[0]), row_of(kLearned[1]), row_of(kLearned[2])};
  rows[0].read_ceiling_gbps = 4500;
  rows[1].read_ceiling_gbps = 4600;
  rows[2].read_ceiling_gbps = 4569;
  rows[2].matmul_ceiling_tflops = 785;
  const Device device = with_ceilings(h200(), ceilings_of_rows(rows, h200()));
  EXPECT_EQ(device.hbm_gbps, 4569);
  EXPECT_EQ(device.bf16_tflops, 785);
  EXPECT_EQ(device.provenance, Provenance::measured);
  EXPECT_EQ(with_ceilings(h200(), ceilings_of_rows({}, h200())), h200());
}

TEST(FitDerating, RecoversFloorAndEfficiencies) {
  const Derating truth{.floor_us = 15, .tensor_efficiency = 0.6, .memory_efficiency = 0.9};
  std::vector<Roofline> lines;
  std::vector<double> times_us;
  for (const double memory_us : {1.0, 10.0, 100.0, 1000.0}) {
    for (const double tensor_us : {1.0, 10.0, 100.0, 1000.0}) {
      lines.push_back({.memory_us = memory_us, .tensor_us = tensor_us});
      times_us.push_back(truth.time_us(lines.back()));
    }
  }
  const Derating fit = fit_derating(lines, times_us);
  EXPECT_NEAR(fit.floor_us, 15, 0.3);
  EXPECT_NEAR(fit.tensor_efficiency, 0.6, 0.01);
  EXPECT_NEAR(fit.memory_efficiency, 0.9, 0.01);
}

TEST(LocalFit, FollowsAPlaneAndFallsBackToTheMean) {
  std::vector<PlacedValue> plane;
  for (double x = 0; x < 4; ++x) {
    for (double y = 0; y < 4; ++y) plane.push_back({{x, y, 0, 0}, 1 + 0.5 * x - 0.25 * y});
  }
  EXPECT_NEAR(local_fit(plane, {1.5, 1.5, 0, 0}), 1 + 0.75 - 0.375, 0.02);
  EXPECT_NEAR(local_fit({{{0, 0, 0, 0}, 3}}, {9, 9, 9, 9}), 3, 1e-9);
  EXPECT_EQ(local_fit({}, {}), 0);
}

}  // namespace
}  // namespace headsplit::tp
