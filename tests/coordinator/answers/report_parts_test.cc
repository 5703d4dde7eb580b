#include <gtest/gtest.h>

#include "coordinator/answers/break_even.h"
#include "coordinator/answers/limiter_count.h"
#include "coordinator/answers/machine.h"
#include "coordinator/answers/trouble.h"
#include "tests/coordinator/answers/made_row.h"

namespace headsplit::coordinator {
namespace {

std::vector<const Row*> pointers(const std::vector<Row>& rows) {
  std::vector<const Row*> all;
  for (const Row& row : rows) all.push_back(&row);
  return all;
}

Row row_at(const std::string& layout, int batch, double time_us) {
  const Layout parsed = layout_from_name(layout).value();
  Row row = made_row(layout + std::to_string(batch), time_us);
  row.layout = layout;
  row.tp = parsed.tp;
  row.dp = parsed.dp;
  row.cp = parsed.cp;
  row.local_heads = 128 / parsed.tp;
  row.batch = batch;
  return row;
}

/// dp8 against tp8 by batch.
BreakEven break_even(const std::vector<std::pair<int, double>>& dp_us) {
  std::vector<Row> rows;
  for (const auto& [batch, time_us] : dp_us) {
    rows.push_back(row_at("tp8", batch, 100));
    rows.push_back(row_at("dp8", batch, time_us));
  }
  const auto all = break_evens_of(erosion(rows));
  EXPECT_EQ(all.size(), 1u);
  return all.at(0);
}

TEST(BreakEvens, LieBetweenTheLastSlowerBatchAndTheNext) {
  const BreakEven found = break_even({{8, 200}, {32, 50}, {128, 10}});
  EXPECT_EQ(found.from, "tp8");
  EXPECT_EQ(found.to, "dp8");
  EXPECT_EQ(found.turns, Turns::at);
  EXPECT_NEAR(*found.batch, 16, 1e-9) << "200 and 50 are as far from 100 on a logarithmic scale";
}

TEST(BreakEvens, CountFromWhereTheOtherStaysFaster) {
  EXPECT_NEAR(*break_even({{1, 50}, {4, 200}, {16, 50}}).batch, 8, 1e-9);
  EXPECT_EQ(break_even({{1, 50}, {4, 60}}).turns, Turns::always);
  const BreakEven never = break_even({{1, 50}, {4, 200}});
  EXPECT_EQ(never.turns, Turns::never);
  EXPECT_EQ(never.batch, std::nullopt);
  EXPECT_EQ(never.batch_high, 4);
}

TEST(BreakEvens, NeedTwoBatches) {
  EXPECT_TRUE(
      break_evens_of(erosion(std::vector<Row>{row_at("tp8", 8, 1), row_at("dp8", 8, 2)})).empty());
}

TEST(Limiters, AreCountedByLayout) {
  std::vector<Row> rows = {row_at("tp1", 1, 10), row_at("tp1", 8, 10), row_at("tp1", 64, 10),
                           row_at("tp8", 8, 10)};
  rows[0].limiter = Limiter::overhead;
  rows[1].limiter = rows[2].limiter = Limiter::tensor;
  rows[3].limiter = Limiter::memory;
  const auto counts = limiters_of(erosion(rows));
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts[0].layout, "tp1");
  EXPECT_EQ(counts[0].mostly, Limiter::tensor);
  EXPECT_EQ(counts[0].tensor, 2);
  EXPECT_EQ(counts[0].overhead, 1);
  EXPECT_EQ(counts[1].mostly, Limiter::memory);
}

TEST(Troubles, AreGroupedByReasonWithoutItsNumbersAndFailuresComeFirst) {
  std::vector<Row> rows = {row_at("tp1", 1, 10), row_at("tp2", 1, 10), row_at("tp4", 1, 10),
                           row_at("tp8", 1, 10)};
  rows[0].status = rows[1].status = Status::skipped;
  rows[0].reason = "needs 12 bytes";
  rows[1].reason = "needs 345 bytes";
  rows[2].status = Status::failed;
  rows[2].reason = "crashed";
  rows[3].throttled = true;
  rows[3].throttle_reason = "software power cap";
  const auto all = troubles_of(pointers(rows));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].kind, TroubleKind::failed);
  EXPECT_EQ(all[1].reason, "needs 12 bytes");
  EXPECT_EQ(all[1].rows, 2);
  EXPECT_EQ(all[1].examples.at(1), "mla_dense tp2 B=1 T=1 L=16384 bf16 (tp21)");
  EXPECT_EQ(all[2].kind, TroubleKind::throttled);
}

TEST(Troubles, CountCountersThatWereAskedForAndAreMissing) {
  std::vector<Row> rows = {row_at("tp1", 1, 10), row_at("tp2", 1, 10)};
  rows[0].counters_reason = "no permission";
  rows[1].counters_reason = kCountersNotAskedFor;
  const auto all = troubles_of(pointers(rows));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].kind, TroubleKind::uncounted);
}

TEST(Machines, AreOneForEachGpuWithItsClocksAndBuilds) {
  std::vector<Row> rows = {row_at("tp1", 1, 10), row_at("tp2", 1, 10), row_at("tp4", 1, 10)};
  rows[0].sm_clock_mhz = 1980;
  rows[1].sm_clock_mhz = 1500;
  rows[1].build = "b2";
  rows[1].throttled = true;
  rows[1].throttle_reason = "thermal";
  rows[2].gpu_uuid = "GPU-2";
  const auto machines = machines_of(pointers(rows));
  ASSERT_EQ(machines.size(), 2u);
  EXPECT_EQ(machines[0].builds, (std::vector<std::string>{"b1", "b2"}));
  EXPECT_EQ(machines[0].sm_clock_low_mhz, 1500);
  EXPECT_EQ(machines[0].sm_clock_high_mhz, 1980);
  EXPECT_EQ(machines[0].rows_throttled, 1);
  EXPECT_EQ(machines[0].throttle_reasons.at(0), (ThrottleCount{"thermal", 1}));
  EXPECT_EQ(machines[1].gpu_uuid, "GPU-2");
  EXPECT_EQ(machines[1].power_median_w, std::nullopt) << "absent, not 0";
}

}  // namespace
}  // namespace headsplit::coordinator
