#include "coordinator/answers/measured_crossover.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/coordinator/answers/made_row.h"

namespace headsplit::coordinator {
namespace {

Row form_row(const std::string& kernel, int query_tokens, double time_us, int tp = 1) {
  Row row = split_by_heads(made_row(str(kernel, query_tokens, tp), time_us), tp);
  row.kernel = kernel;
  row.query_tokens = query_tokens;
  return row;
}

/// Absorbed 10 us a query token; kept 160 us whatever their number.
std::vector<Row> steady_rows() {
  std::vector<Row> rows;
  for (const int tokens : {1, 4, 8, 32, 128}) {
    rows.push_back(form_row(kAbsorbedKernel, tokens, 10 * tokens));
    rows.push_back(form_row(kKeptKernel, tokens, 160));
  }
  return rows;
}

MeasuredCrossover only(const std::vector<Row>& rows) {
  const auto lines = measured_crossovers(rows);
  EXPECT_EQ(lines.size(), 1u);
  return lines.at(0);
}

TEST(MeasuredCrossover, LiesBetweenTheTwoNeighboursOnLogarithmicScales) {
  const auto line = only(steady_rows());
  ASSERT_TRUE(line.kept.has_value());
  EXPECT_EQ(line.kept->turns, Turns::at);
  EXPECT_EQ(line.kept->low, 8);
  EXPECT_EQ(line.kept->high, 32);
  EXPECT_NEAR(*line.kept->query_tokens, 16, 1e-9);
  EXPECT_EQ(line.times.size(), 5u);
  EXPECT_FALSE(line.anew.has_value());
  EXPECT_EQ(line.lacking, "no time of kv_expand");
}

TEST(MeasuredCrossover, AddsOneExpansionToEveryNumberOfQueryTokens) {
  auto rows = steady_rows();
  rows.push_back(form_row(kExpandKernel, 1, 480));
  const auto line = only(rows);
  EXPECT_EQ(line.times.front().anew_us, 640);
  EXPECT_EQ(line.times.back().anew_us, 640);
  ASSERT_TRUE(line.anew.has_value());
  EXPECT_NEAR(*line.anew->query_tokens, 64, 1e-9);
  EXPECT_EQ(line.lacking, "");
}

TEST(MeasuredCrossover, TakesTheKernelThatDoesBothWhereItWasMeasured) {
  auto rows = steady_rows();
  rows.push_back(form_row(kExpandKernel, 1, 480));
  rows.push_back(form_row(kAnewKernel, 128, 500));
  EXPECT_EQ(only(rows).times.back().anew_us, 500);
}

TEST(MeasuredCrossover, SaysAlwaysAndNeverWithTheSpanThatWasMeasured) {
  auto rows = steady_rows();
  for (Row& row : rows) row.time_us = row.kernel == kKeptKernel ? 5 : *row.time_us;
  EXPECT_EQ(only(rows).kept, (FormSwitch{.turns = Turns::always, .low = 1, .high = 128}));
  for (Row& row : rows) row.time_us = row.kernel == kKeptKernel ? 5000 : *row.time_us;
  EXPECT_EQ(only(rows).kept, (FormSwitch{.turns = Turns::never, .low = 1, .high = 128}));
}

TEST(MeasuredCrossover, SaysWhereTheAbsorbedFormIsFasterAgain) {
  auto rows = steady_rows();
  rows.back().time_us = 2000;
  const auto line = only(rows);
  EXPECT_EQ(line.kept->high, 32);
  EXPECT_EQ(line.kept->slower_again, 128);
}

TEST(MeasuredCrossover, TakesRepeatsByTheirMedianAndKeepsMachinesApart) {
  auto rows = steady_rows();
  for (Row row : steady_rows()) {
    row.repeat = 1;
    row.time_us = *row.time_us * 3;
    rows.push_back(row);
  }
  EXPECT_EQ(only(rows).times.front().absorbed_us, 20);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].build = i < 10 ? "b1" : "b2";
  EXPECT_EQ(measured_crossovers(rows).size(), 2u);
}

TEST(MeasuredCrossover, SaysWhatIsLackingAndWhyWhereARowDoes) {
  std::vector<Row> rows = {form_row(kAbsorbedKernel, 1, 10), form_row(kAbsorbedKernel, 8, 80)};
  Row skipped = form_row(kKeptKernel, 1, 0);
  skipped.status = Status::skipped;
  skipped.reason = "needs 172 GB";
  skipped.time_us.reset();
  skipped.device.clear();
  skipped.gpu_uuid.clear();
  rows.push_back(skipped);
  EXPECT_EQ(only(rows).lacking, "no time of mla_expanded (skipped: needs 172 GB), kv_expand");
  rows.push_back(form_row(kKeptKernel, 8, 160));
  rows.push_back(form_row(kExpandKernel, 1, 160));
  EXPECT_EQ(only(rows).lacking,
            "fewer than two query tokens at which both mla_dense and mla_expanded have a time");
}

TEST(MeasuredCrossover, LeavesOutOtherLayoutsCachesAndFixedSplits) {
  auto rows = steady_rows();
  rows[0].cp = 8;
  rows[1].kv_dtype = KvDtype::fp8;
  rows[2].fixed_splits = 4;
  EXPECT_EQ(only(rows).times.size(), 4u);
  EXPECT_EQ(only(rows).kept->low, 8);
}

TEST(Turn, LastsOnlyWhereItIsNotTurnedBack) {
  const Advantages wavering = {{1, 0.5}, {2, -0.5}, {4, 0.5}, {8, -0.5}};
  EXPECT_NEAR(*first_turn(wavering).at, std::sqrt(2.0), 1e-12);
  EXPECT_EQ(first_turn(wavering).slower_again, 4);
  EXPECT_NEAR(*lasting_turn(wavering).at, std::sqrt(32.0), 1e-12);
  EXPECT_EQ(lasting_turn({{1, -1.0}}).turns, Turns::always);
  EXPECT_EQ(lasting_turn({{1, -1.0}, {2, 1.0}}).turns, Turns::never);
  EXPECT_EQ(first_turn({{1, 0.0}, {2, 1.0}}).turns, Turns::always) << "equal counts";
}

}  // namespace
}  // namespace headsplit::coordinator
