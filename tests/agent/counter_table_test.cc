#include "agent/counter_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace headsplit::agent {
namespace {

using enum Figure;

/// Values of a chip's sets: row i gets 100 x (i + 1).
std::vector<CounterValue> values_of(std::string_view chip, bool detail) {
  std::vector<CounterValue> values;
  for (CounterSet set : {CounterSet::standard, CounterSet::detail}) {
    if (set == CounterSet::detail && !detail) continue;
    for (const CounterRow& row : counters_of(chip, set)) {
      values.push_back({row, 100.0 * static_cast<double>(values.size() + 1)});
    }
  }
  return values;
}

double value_of(const std::vector<CounterValue>& values, Figure figure) {
  double sum = 0;
  for (const auto& [row, value] : values) sum += row.figure == figure ? value : 0;
  return sum;
}

TEST(CounterTable, NamesEachFigureOnceAChipAndSet) {
  for (std::string_view chip : supported_chips()) {
    for (CounterSet set : {CounterSet::standard, CounterSet::detail}) {
      std::set<Figure> figures;
      for (const CounterRow& row : counters_of(chip, set)) {
        EXPECT_TRUE(figures.insert(row.figure).second) << chip << " " << row.metric;
      }
    }
  }
}

TEST(CounterTable, GivesAllStandardFiguresOnHopper) {
  const auto values = values_of("GH100", false);
  const Counts counts = counts_from("GH100", values, {});
  EXPECT_EQ(counts.dram_bytes_read, value_of(values, dram_bytes_read));
  EXPECT_EQ(counts.dram_bytes_written, value_of(values, dram_bytes_written));
  EXPECT_EQ(counts.l2_bytes, value_of(values, l2_bytes));
  EXPECT_EQ(counts.tensor_ops, value_of(values, bf16_ops) + value_of(values, fp8_ops));
  EXPECT_EQ(counts.all.size(), values.size());
  EXPECT_EQ(counts.reason, "");
  EXPECT_FALSE(counts.l2_hit_ratio);
}

TEST(CounterTable, TurnsPercentagesOfTheDetailSetIntoRatios) {
  std::vector<CounterValue> values;
  for (const CounterRow& row : counters_of("GH100", CounterSet::detail))
    values.push_back({row, 25});
  const Counts counts = counts_from("GH100", values, {});
  EXPECT_EQ(counts.l2_hit_ratio, 0.25);
  EXPECT_EQ(counts.tensor_active_ratio, 0.25);
  EXPECT_EQ(counts.issue_active_ratio, 0.25);
  EXPECT_EQ(counts.occupancy, 0.25);
}

TEST(CounterTable, ReportsAMissingMetricAsNullWithItsReason) {
  auto values = values_of("GH100", false);
  const CounterRow missing = values.front().row;
  ASSERT_EQ(missing.figure, dram_bytes_read);
  values.erase(values.begin());
  const Counts counts = counts_from("GH100", values, std::vector{missing});
  EXPECT_FALSE(counts.dram_bytes_read);
  EXPECT_TRUE(counts.all.at("dram__bytes_read.sum").is_null());
  EXPECT_EQ(counts.reason, "GH100 does not offer dram__bytes_read.sum");
}

TEST(CounterTable, NeverPassesANonFiniteValueOn) {
  auto values = values_of("GH100", false);
  values.front().value = std::nan("");
  const Counts counts = counts_from("GH100", values, {});
  EXPECT_FALSE(counts.dram_bytes_read);
  EXPECT_TRUE(counts.all.at("dram__bytes_read.sum").is_null());
  EXPECT_EQ(counts.reason, "dram__bytes_read.sum has no finite value");
}

TEST(CounterTable, SaysThatFp8OperationsWereNotCountedWhereTheyNeedTheDetailSet) {
  auto values = values_of("GB100", false);
  const Counts seen = counts_from("GB100", values, {});
  EXPECT_EQ(seen.tensor_ops, value_of(values, bf16_ops));
  EXPECT_NE(seen.reason.find("FP8 tensor operations need the detail set on GB100"),
            std::string::npos);

  for (auto& [row, value] : values) value = row.figure == bf16_ops ? 0 : value;
  const Counts unseen = counts_from("GB100", values, {});
  EXPECT_FALSE(unseen.tensor_ops) << "0 bf16 operations may have been FP8 ones";

  const auto both = values_of("GB100", true);
  const Counts detailed = counts_from("GB100", both, {});
  EXPECT_EQ(detailed.tensor_ops,
            value_of(both, bf16_ops) + value_of(both, fp16_ops) + value_of(both, fp8_ops));
  EXPECT_EQ(detailed.reason, "");
}

TEST(CounterTable, CountsZeroTensorOperationsAsZeroWhereNoOthersExist) {
  auto values = values_of("GA100", false);
  for (auto& [row, value] : values) value = row.figure == bf16_ops ? 0 : value;
  EXPECT_EQ(counts_from("GA100", values, {}).tensor_ops, 0.0);
}

TEST(CounterTable, SaysThatAChipWithoutDramCountersHasNone) {
  const Counts counts = counts_from("GB20B", values_of("GB20B", true), {});
  EXPECT_FALSE(counts.dram_bytes_read);
  EXPECT_FALSE(counts.dram_bytes_written);
  EXPECT_NE(counts.reason.find("no counter for dram_bytes_read on GB20B"), std::string::npos);
}

TEST(CounterTable, KnowsNothingOfAnUnknownChip) {
  EXPECT_TRUE(counters_of("XX999", CounterSet::standard).empty());
}

}  // namespace
}  // namespace headsplit::agent
