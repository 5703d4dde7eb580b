#include "cli/gang_table.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace headsplit::cli {
namespace {

Row row_of_layout(Ranks ranks, double time_us) {
  Row row = row_of(Point{.layout = {.tp = 2}, .ranks = ranks});
  row.status = Status::ok;
  row.time_us = time_us;
  return row;
}

TEST(GangTable, PutsRealRanksBesideTheEmulatedOneAndSaysTheDifference) {
  Row real = row_of_layout(Ranks::real, 150);
  real.attention_us = 110;
  real.collective_us = 30;
  real.exposed_us = 40;
  real.parts.resize(2);
  real.rank_context = 64;
  const std::string table = gang_table({row_of_layout(Ranks::emulated, 100), real});
  EXPECT_NE(table.find("+10.0%"), std::string::npos) << table;
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3) << table;
  EXPECT_EQ(gang_table({row_of_layout(Ranks::emulated, 100)}), "");
}

TEST(GangTable, ListsCollectivesByMessage) {
  Row row = row_of(Point{.kernel = "all_reduce", .message_bytes = 1024});
  row.status = Status::ok;
  row.time_us = 2;
  row.algbw_gbps = 0.512;
  EXPECT_NE(collective_table({row}).find("0.512"), std::string::npos);
  EXPECT_EQ(gang_table({row}), "");
}

}  // namespace
}  // namespace headsplit::cli
