#include "kernels/per_head/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/per_head/stored_values.h"

namespace headsplit::kernels {
namespace {

/// Small enough to compute by hand beside the reference: two groups of two query heads.
RankProblem tiny(int query_tokens, std::int64_t context) {
  return RankProblem{.local_heads = 4,
                     .kv_heads = 2,
                     .batch = 1,
                     .query_tokens = query_tokens,
                     .context = context,
                     .d_rope = 2,
                     .d_nope = 3,
                     .d_v = 4,
                     .family = Family::per_head};
}

double score(const Problem& problem, int row, int kv_head, int token) {
  double dot = 0;
  for (int d = 0; d < 5; ++d) {
    dot += double(per_head_query_value(problem, row * 5 + d)) *
           key_value(problem, problem.page_table[0], kv_head, token, d);
  }
  return dot / std::sqrt(5.0);
}

TEST(PerHeadReference, OfOneTokenIsTheValueOfTheGroupsOwnHead) {
  const Problem problem = make_problem(tiny(1, 1), 1);
  for (const int row : {0, 1, 2, 3}) {
    const ReferenceRow found = per_head_reference(problem, row);
    ASSERT_EQ(found.values.size(), 4u);
    for (int d = 0; d < 4; ++d) {
      EXPECT_NEAR(found.values[std::size_t(d)],
                  value_value(problem, problem.page_table[0], row / 2, 0, d), 1e-12);
    }
    EXPECT_NEAR(found.lse, score(problem, row, row / 2, 0), 1e-6);
  }
}

TEST(PerHeadReference, OfTwoTokensIsTheirSoftmaxMean) {
  const Problem problem = make_problem(tiny(1, 2), 1);
  const ReferenceRow row = per_head_reference(problem, 2);
  const double first = std::exp(score(problem, 2, 1, 0));
  const double second = std::exp(score(problem, 2, 1, 1));
  EXPECT_NEAR(row.lse, std::log(first + second), 1e-6);
  for (int d = 0; d < 4; ++d) {
    const double mean = (first * value_value(problem, problem.page_table[0], 1, 0, d) +
                         second * value_value(problem, problem.page_table[0], 1, 1, d)) /
                        (first + second);
    EXPECT_NEAR(row.values[std::size_t(d)], mean, 1e-6);
  }
}

TEST(PerHeadReference, OfARowThatAttendsToNothingIsZeroAndMinusInfinity) {
  const Problem problem = make_problem(tiny(2, 1), 1);
  const ReferenceRow first_token = per_head_reference(problem, 0);
  EXPECT_EQ(first_token.values, std::vector<double>(4, 0.0));
  EXPECT_EQ(first_token.lse, -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isfinite(per_head_reference(problem, 4).lse));
}

TEST(PerHeadReference, OfManyRowsIsThatOfEach) {
  RankProblem shape = tiny(3, 200);
  shape.batch = 3;
  const Problem problem = make_problem(shape, {200, 0, 70}, 3);
  const std::vector<std::int64_t> rows = {0, 3, 4, 13, 25, 34, 35};
  const auto found = reference_rows(problem, rows).value();
  ASSERT_EQ(found.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ReferenceRow alone = per_head_reference(problem, rows[i]);
    EXPECT_EQ(found[i].values, alone.values) << rows[i];
    EXPECT_EQ(found[i].lse, alone.lse) << rows[i];
  }
}

TEST(PerHeadReference, LaysHeadsOutBeforeTheTokensOfAPage) {
  EXPECT_EQ(per_head_index({.page = 2,
                            .kv_head = 1,
                            .slot = 3,
                            .dim = 5,
                            .kv_heads = 4,
                            .page_tokens = 16,
                            .width = 128}),
            ((2 * 4 + 1) * 16 + 3) * 128 + 5);
  EXPECT_NE(stored_key(1, 0), stored_value(1, 0)) << "two tensors";
}

TEST(PerHeadReference, OfAShareIsThatOfTheWhole) {
  RankProblem shape = tiny(1, 100);
  const Problem whole = make_problem(shape, 5);
  shape.local_heads = 2;
  shape.kv_heads = 1;
  Problem share = make_problem(shape, 5);
  share.source = {.heads = 4, .kv_heads = 2, .first_head = 2, .first_request = 0, .pages = {}};
  EXPECT_EQ(per_head_reference(share, 1).values, per_head_reference(whole, 3).values);
  EXPECT_NE(per_head_reference(share, 1).values, per_head_reference(whole, 1).values);
  // A KV head that two ranks share is on both.
  shape.local_heads = 1;
  share = make_problem(shape, 5);
  share.source = {.heads = 4, .kv_heads = 2, .first_head = 3, .first_request = 0, .pages = {}};
  EXPECT_EQ(per_head_reference(share, 0).values, per_head_reference(whole, 3).values);
}

}  // namespace
}  // namespace headsplit::kernels
