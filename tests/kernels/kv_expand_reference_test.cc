#include "kernels/kv_expand/reference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/mla_dense/reference.h"

namespace headsplit::kernels {
namespace {

RankProblem tiny() {
  return RankProblem{.local_heads = 2,
                     .kv_heads = 2,
                     .batch = 3,
                     .context = 40,
                     .d_latent = 4,
                     .d_rope = 2,
                     .d_nope = 3,
                     .d_v = 5,
                     .family = Family::kv_expand};
}

TEST(KvExpandReference, RowsAreTheHeadsOfTheTokensOfAllRequests) {
  const Problem problem = make_problem(tiny(), {40, 0, 7}, 1, 16);
  EXPECT_EQ(problem.rows(), 47 * 2);
  const ExpandedRow last_of_first = expanded_row(problem, 79);
  EXPECT_EQ(last_of_first.request, 0);
  EXPECT_EQ(last_of_first.token, 39);
  EXPECT_EQ(last_of_first.head, 1);
  EXPECT_EQ(last_of_first.page, problem.page_table[2]);
  EXPECT_EQ(last_of_first.slot, 7);
  const ExpandedRow first_of_last = expanded_row(problem, 80);
  EXPECT_EQ(first_of_last.request, 2);
  EXPECT_EQ(first_of_last.token, 0);
  EXPECT_EQ(first_of_last.head, 0);
  EXPECT_EQ(first_of_last.page, problem.page_table[6]);
}

TEST(KvExpandReference, IsTheLatentTimesTheWeightsBesideTheSharedRopeKey) {
  const Problem problem = make_problem(tiny(), {40, 0, 7}, 1, 16);
  const std::int64_t row = 81;  // request 2, token 0, head 1
  const ReferenceRow found = reference_rows(problem, {&row, 1}).value().front();
  ASSERT_EQ(found.values.size(), 3u + 2 + 5);
  EXPECT_EQ(found.lse, 0);
  const auto page = problem.page_table[6];
  const auto product = [&](const auto& weight, int dim) {
    double sum = 0;
    for (int i = 0; i < 4; ++i) {
      sum += double(weight(problem, 1, dim, i)) * cache_value(problem, page, 0, i);
    }
    return sum;
  };
  for (int d = 0; d < 3; ++d) EXPECT_EQ(found.values[std::size_t(d)], product(up_key_weight, d));
  EXPECT_EQ(found.values[3], cache_value(problem, page, 0, 4));
  EXPECT_EQ(found.values[4], cache_value(problem, page, 0, 5));
  for (int d = 0; d < 5; ++d) {
    EXPECT_EQ(found.values[std::size_t(5 + d)], product(up_value_weight, d));
  }
}

TEST(KvExpandReference, KeysAndValuesAreOfTheSizeOfLatents) {
  RankProblem shape = tiny();
  shape.d_latent = 512;
  const Problem problem = make_problem(shape, 1);
  std::vector<std::int64_t> rows(std::size_t(problem.rows()));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = std::int64_t(i);
  double square = 0;
  for (const auto& row : reference_rows(problem, rows).value()) {
    for (int d = 5; d < 10; ++d) square += row.values[std::size_t(d)] * row.values[std::size_t(d)];
  }
  EXPECT_NEAR(std::sqrt(square / (double(rows.size()) * 5)), 1, 0.1);
}

TEST(KvExpandReference, OfAShareIsThatOfTheWhole) {
  RankProblem shape = tiny();
  const Problem whole = make_problem(shape, 5);
  shape.local_heads = shape.kv_heads = 1;
  Problem share = make_problem(shape, 5);
  share.source = {.heads = 2, .kv_heads = 2, .first_head = 1, .first_request = 0, .pages = {}};
  const std::int64_t second_head = 1;
  const std::int64_t only_head = 0;
  EXPECT_EQ(reference_rows(share, {&only_head, 1}).value().front().values,
            reference_rows(whole, {&second_head, 1}).value().front().values);
}

}  // namespace
}  // namespace headsplit::kernels
