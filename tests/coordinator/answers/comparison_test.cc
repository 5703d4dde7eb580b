#include "coordinator/answers/comparison.h"

#include <gtest/gtest.h>

#include "tests/coordinator/answers/made_row.h"

namespace headsplit::coordinator {
namespace {

/// A row with samples around a time, `wave` times larger and smaller in turn.
Row sampled_row(const std::string& id, double time_us, double wave = 0.001) {
  Row row = made_row(id, time_us);
  for (int i = 0; i < 48; ++i) {
    row.samples_us.push_back(time_us * ((i / 4) % 2 == 0 ? 1 + wave : 1 - wave));
  }
  return row;
}

Comparison compared(const std::vector<Row>& a, const std::vector<Row>& b,
                    const CompareOptions& options = {}) {
  auto comparison = compare(a, b, options);
  EXPECT_TRUE(comparison) << (comparison ? "" : comparison.error().message);
  return comparison ? std::move(comparison).value() : Comparison{};
}

PointComparison only_point(const Row& a, const Row& b, const CompareOptions& options = {}) {
  const Comparison comparison = compared({a}, {b}, options);
  EXPECT_EQ(comparison.points.size(), 1u);
  return comparison.points.empty() ? PointComparison{} : comparison.points.front();
}

TEST(Comparison, CallsAPointSameWithinTheNoiseFloor) {
  const PointComparison point = only_point(sampled_row("a", 100), sampled_row("b", 100.5));
  EXPECT_EQ(point.change, Change::same);
  EXPECT_NEAR(point.ratio, 1.005, 1e-9);
  EXPECT_EQ(point.rows_a, std::vector<std::string>{"a"});
  EXPECT_EQ(point.rows_b, std::vector<std::string>{"b"});
}

TEST(Comparison, CallsAPointSlowerOrFasterBeyondTheNoiseFloor) {
  EXPECT_EQ(only_point(sampled_row("a", 100), sampled_row("b", 103)).change, Change::slower);
  EXPECT_EQ(only_point(sampled_row("a", 100), sampled_row("b", 97)).change, Change::faster);
}

TEST(Comparison, CallsAPointAmbiguousWhoseIntervalReachesOverTheFloor) {
  const PointComparison point = only_point(sampled_row("a", 100), sampled_row("b", 101));
  EXPECT_EQ(point.change, Change::ambiguous);
  EXPECT_EQ(point.reason, "the interval reaches over the noise floor");
}

TEST(Comparison, HoldsShortTimesToWhatALaunchCostsInEachProcess) {
  EXPECT_EQ(only_point(sampled_row("a", 2), sampled_row("b", 2.5)).change, Change::same);
  EXPECT_EQ(only_point(sampled_row("a", 2), sampled_row("b", 2.8)).change, Change::slower);
}

TEST(Comparison, BelievesASlowDownOnlyWhenCyclesShowItToo) {
  Row a = sampled_row("a", 100);
  Row b = sampled_row("b", 104);
  a.sm_clock_mhz = 1980;
  b.sm_clock_mhz = 1904;  // 104 us at 1904 MHz are the cycles of 100 us at 1980 MHz
  const PointComparison lower_clock = only_point(a, b);
  EXPECT_EQ(lower_clock.change, Change::ambiguous);
  EXPECT_EQ(lower_clock.reason, "differs in time, not in cycles: the SM clocks differ");
  b.sm_clock_mhz = 1980;
  const PointComparison same_clock = only_point(a, b);
  EXPECT_EQ(same_clock.change, Change::slower);
  EXPECT_NEAR(*same_clock.cycle_ratio, 1.04, 1e-9);
}

TEST(Comparison, FailsOnlyOverTheGivenLimit) {
  CompareOptions options;
  options.fail_over = 0.05;
  const Comparison small = compared({sampled_row("a", 100)}, {sampled_row("b", 103)}, options);
  EXPECT_EQ(small.finding, Finding::no_regression);
  EXPECT_EQ(small.slower, 1);
  EXPECT_EQ(small.reason, "no point is slower by more than the limit");
  const Comparison large = compared({sampled_row("a", 100)}, {sampled_row("b", 106)}, options);
  EXPECT_EQ(large.finding, Finding::regression);
  EXPECT_EQ(large.reason, "1 point slower");
}

TEST(Comparison, CountsAPointThatFailsNowAsARegression) {
  Row failed = made_row("b", 0);
  failed.status = Status::failed;
  failed.reason = "timeout";
  const Comparison comparison = compared({sampled_row("a", 100)}, {failed});
  EXPECT_EQ(comparison.finding, Finding::regression);
  ASSERT_EQ(comparison.failed.size(), 1u);
  EXPECT_EQ(comparison.failed[0].reason, "failed: timeout");
}

TEST(Comparison, CannotTellWithoutAPair) {
  Row other = sampled_row("b", 100);
  other.batch = 1;
  const Comparison comparison = compared({sampled_row("a", 100)}, {other});
  EXPECT_EQ(comparison.finding, Finding::cannot_tell);
  EXPECT_EQ(comparison.only_a.size(), 1u);
  EXPECT_EQ(comparison.only_b.size(), 1u);
}

TEST(Comparison, CannotTellWhenMostPointsAreAmbiguous) {
  const Comparison comparison =
      compared({sampled_row("a", 100, 0.2)}, {sampled_row("b", 101, 0.2)});
  EXPECT_EQ(comparison.finding, Finding::cannot_tell);
  EXPECT_EQ(comparison.reason, "1 of 1 points are ambiguous");
}

TEST(Comparison, RefusesUnlikeMachinesUnlessTold) {
  Row other = sampled_row("b", 100);
  other.gpu_uuid = "GPU-2";
  const std::vector<Row> a = {sampled_row("a", 100)};
  const std::vector<Row> b = {other};
  const auto refused = compare(a, b, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::config);
  EXPECT_EQ(refused.error().message,
            "unlike machines: A is of GPU X GPU-1, driver 1.0, CUDA 13.0; B is of GPU X GPU-2, "
            "driver 1.0, CUDA 13.0; --across-machines compares them anyway");
  CompareOptions options;
  options.across_machines = true;
  EXPECT_EQ(compared(a, b, options).same, 1);
}

TEST(Comparison, TakesTheNoiseFloorFromRepeatsThatDifferMore) {
  std::vector<Row> rows;
  for (int i = 0; i < 40; ++i) {
    rows.push_back(sampled_row(std::to_string(i), i % 2 == 0 ? 100 : 105));
    rows.back().batch = i / 2;
    rows.back().repeat = i % 2;
  }
  const Comparison comparison = compared(rows, rows);
  EXPECT_NEAR(comparison.noise.relative, 0.05, 1e-9);
  EXPECT_EQ(comparison.noise.basis, "95th percentile of the repeats of 40 points");
}

TEST(Comparison, TakesTheNoiseFloorFromAMeasuredAgain) {
  CompareOptions options;
  options.again = {sampled_row("a2", 102)};
  const Comparison comparison = compared({sampled_row("a", 100)}, {sampled_row("b", 101)}, options);
  EXPECT_NEAR(comparison.noise.relative, 0.02, 1e-9);
  EXPECT_EQ(comparison.same, 1);
}

std::vector<Row> golden_a() { return {sampled_row("a1", 100, 0), sampled_row("a2", 50, 0)}; }
std::vector<Row> golden_b() { return {sampled_row("b1", 110, 0), sampled_row("b2", 50, 0)}; }

Comparison golden() {
  std::vector<Row> a = golden_a();
  std::vector<Row> b = golden_b();
  a[1].kernel = b[1].kernel = "a<b&c|";
  return compared(a, b);
}

TEST(Comparison, IsWrittenAsText) {
  EXPECT_EQ(comparison_text(golden()),
            "A: A, 2 rows, GPU X GPU-1, driver 1.0, CUDA 13.0, build b1\n"
            "B: B, 2 rows, GPU X GPU-1, driver 1.0, CUDA 13.0, build b1\n"
            "noise floor: 1.00 %, at least 0.65 us (default); fail over 0.00 %\n"
            "slower  mla_dense tp1 B=64 T=1 L=16384 bf16  100.00 -> 110.00 us  +10.00 % (+10.00 % "
            "to +10.00 %), in cycles -\n"
            "2 points: 1 same, 0 faster, 1 slower, 0 ambiguous\n"
            "regression: 1 point slower\n");
}

TEST(Comparison, IsWrittenAsMarkdown) {
  EXPECT_EQ(comparison_markdown(golden()),
            "**regression: 1 point slower**\n\n"
            "- A: A, 2 rows, GPU X GPU-1, driver 1.0, CUDA 13.0, build b1\n"
            "- B: B, 2 rows, GPU X GPU-1, driver 1.0, CUDA 13.0, build b1\n"
            "- noise floor: 1.00 %, at least 0.65 us (default); fail over 0.00 %\n"
            "- 2 points: 1 same, 0 faster, 1 slower, 0 ambiguous\n\n"
            "| point | A (us) | B (us) | change | 99 % interval | in cycles | verdict |\n"
            "|---|--:|--:|--:|---|--:|---|\n"
            "| mla\\_dense tp1 B=64 T=1 L=16384 bf16 | 100.00 | 110.00 | +10.00 % | +10.00 % to "
            "+10.00 % | - | slower |\n"
            "| a&lt;b&c\\| tp1 B=64 T=1 L=16384 bf16 | 50.00 | 50.00 | +0.00 % | +0.00 % to +0.00 "
            "% | - | same |\n");
}

TEST(Comparison, IsWrittenAsJunit) {
  EXPECT_EQ(comparison_junit(golden()),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuite name=\"headsplit compare\" tests=\"2\" failures=\"1\" errors=\"0\" "
            "skipped=\"0\">\n"
            "  <testcase classname=\"headsplit.compare\" name=\"mla_dense tp1 B=64 T=1 L=16384 "
            "bf16\" time=\"0.000110000\">\n"
            "    <failure message=\"slower: 100.00 us, then 110.00 us: +10.00 % (+10.00 % to "
            "+10.00 %)\"/>\n"
            "  </testcase>\n"
            "  <testcase classname=\"headsplit.compare\" name=\"a&lt;b&amp;c| tp1 B=64 T=1 L=16384 "
            "bf16\" time=\"0.000050000\"/>\n"
            "</testsuite>\n");
}

TEST(Comparison, IsWrittenAsJson) {
  const json::value value = to_json(golden());
  EXPECT_EQ(value.at("finding").as_string(), "regression");
  EXPECT_EQ(value.at("points").at(0).at("change").as_string(), "slower");
  EXPECT_EQ(value.at("points").at(0).at("regression").as_bool(), true);
  EXPECT_TRUE(value.at("points").at(0).at("cycle_ratio").is_null());
}

}  // namespace
}  // namespace headsplit::coordinator
