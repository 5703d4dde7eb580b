#include "kernels/per_head/tile_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace headsplit::kernels::per_head {
namespace {

constexpr TileLimits kH200{.ctas = 132, .rows = 128, .tokens = 128, .l2_bytes = 50e6};

Problem prefill(int heads, int kv_heads, std::vector<std::int32_t> lengths, int query_tokens) {
  const RankProblem shape{.local_heads = heads,
                          .kv_heads = kv_heads,
                          .batch = static_cast<int>(lengths.size()),
                          .query_tokens = query_tokens,
                          .context = *std::max_element(lengths.begin(), lengths.end())};
  return make_problem(shape, std::move(lengths), 1);
}

double steps_of(const hopper::WorkItem& item) { return (item.token_end + 127) / 128 + 0.8; }

std::pair<double, double> least_and_most_steps(const TilePlan& plan) {
  std::vector<double> loads;
  for (int cta = 0; cta < plan.ctas(); ++cta) {
    double load = 0;
    for (int i = plan.item_begin[std::size_t(cta)]; i < plan.item_begin[std::size_t(cta) + 1];
         ++i) {
      load += steps_of(plan.items[std::size_t(i)]);
    }
    loads.push_back(load);
  }
  return {*std::min_element(loads.begin(), loads.end()),
          *std::max_element(loads.begin(), loads.end())};
}

TEST(TilePlan, HasEveryRowOfEveryHeadAndRequestOnce) {
  const Problem problem = prefill(14, 2, {700, 0, 1300}, 300);
  const TilePlan plan = plan_tiles(problem, kH200);
  EXPECT_EQ(plan.tile_rows, 126);  // seven heads of a group: 18 query tokens
  std::set<std::tuple<int, int, int>> rows;
  for (const auto& item : plan.items) {
    EXPECT_EQ(item.token_begin, 0);
    EXPECT_EQ(item.slot, -1);
    for (int row = item.row_begin; row < item.row_begin + item.row_count; ++row) {
      EXPECT_TRUE(rows.insert({item.request, item.kv_head, row}).second);
    }
  }
  EXPECT_EQ(rows.size(), std::size_t{3} * 2 * 300 * 7);
}

TEST(TilePlan, EndsATileWhereItsLastQueryTokenEnds) {
  const TilePlan plan = plan_tiles(prefill(1, 1, {512}, 256), kH200);
  std::map<int, int> end_by_row;
  for (const auto& item : plan.items) end_by_row[item.row_begin] = item.token_end;
  EXPECT_EQ(end_by_row, (std::map<int, int>{{0, 384}, {128, 512}}));
}

TEST(TilePlan, BalancesACausalTriangleWithinOneTile) {
  const auto [least, most] =
      least_and_most_steps(plan_tiles(prefill(128, 128, {4096}, 4096), kH200));
  EXPECT_LT(most / least, 1.01);
}

TEST(TilePlan, TakesHeadsTogetherThatFitHalfOfL2) {
  // 4096 tokens x 320 values of 2 bytes are 2.6 MB a head: nine of them fit 25 MB, and 128 heads
  // are 15 rounds, the first of which has eight.
  const TilePlan plan = plan_tiles(prefill(128, 128, {4096}, 4096), {.ctas = 1, .l2_bytes = 50e6});
  std::set<int> heads;
  for (int i = 0; i < 8 * 32; ++i) heads.insert(plan.items[std::size_t(i)].kv_head);
  EXPECT_EQ(heads.size(), 8u);
  EXPECT_EQ(*heads.rbegin(), 7);
}

TEST(TilePlan, GivesRequestsWithoutTokensATileThatWritesNothingAttended) {
  const TilePlan plan = plan_tiles(prefill(2, 2, {0, 64}, 1), kH200);
  ASSERT_EQ(plan.items.size(), 4u);
  EXPECT_EQ(std::count_if(plan.items.begin(), plan.items.end(),
                          [](const auto& item) { return item.token_end == 0; }),
            2);
}

}  // namespace
}  // namespace headsplit::kernels::per_head
