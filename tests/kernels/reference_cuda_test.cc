#include "kernels/reference_cuda.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "kernels/mla_dense/reference.h"

namespace headsplit::kernels {
namespace {

std::vector<ReferenceRow> on_gpu(const Problem& problem, const std::vector<std::int64_t>& rows) {
  return reference_rows_cuda(problem, rows, nullptr).value();
}

/// Largest difference over all rows between the two references, relative to 1.
double largest_difference(const Problem& problem) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(problem.rows()));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  const auto wanted = reference_rows(problem, rows).value();
  const auto got = on_gpu(problem, rows);
  EXPECT_EQ(got.size(), wanted.size());
  double largest = 0;
  const auto add = [&](double x, double y) {
    if (x == y) return;  // both -infinity, too
    largest = std::isfinite(x - y) ? std::max(largest, std::abs(x - y)) : INFINITY;
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(got[i].values.size(), wanted[i].values.size());
    add(got[i].lse, wanted[i].lse);
    for (std::size_t d = 0; d < wanted[i].values.size(); ++d) {
      add(got[i].values[d], wanted[i].values[d]);
    }
  }
  return largest;
}

TEST(ReferenceCuda, IsThatOfTheCpuUpToTheOrderOfSums) {
  for (const KvDtype dtype : {KvDtype::bf16, KvDtype::fp8, KvDtype::fp8_tensor}) {
    for (const Lengths lengths : {Lengths::equal, Lengths::ragged}) {
      for (const int query_tokens : {1, 3}) {
        const RankProblem shape{.local_heads = 5,
                                .batch = 4,
                                .query_tokens = query_tokens,
                                .context = 300,
                                .kv_dtype = dtype,
                                .lengths = lengths};
        EXPECT_LT(largest_difference(make_problem(shape, 7)), 1e-12)
            << enum_name(dtype) << " " << enum_name(lengths) << " " << query_tokens;
      }
    }
  }
}

TEST(ReferenceCuda, TakesPagesAndWidthsOfEverySize) {
  for (const int page_tokens : {16, 64, 128}) {
    const RankProblem narrow{.local_heads = 3,
                             .batch = 2,
                             .query_tokens = 2,
                             .context = 130,
                             .d_latent = 256,
                             .d_rope = 32};
    EXPECT_LT(largest_difference(make_problem(narrow, 3, page_tokens)), 1e-12) << page_tokens;
  }
}

TEST(ReferenceCuda, TakesAShardsValuesFromTheWhole) {
  const RankProblem shape{.local_heads = 4, .batch = 3, .query_tokens = 2, .context = 200};
  Problem shard = make_problem(shape, 5);
  shard.source = {.heads = 12, .first_head = 8, .first_request = 2, .pages = {}};
  for (std::int64_t page = 0; page < shard.page_count; ++page) {
    shard.source.pages.push_back(3 * page + 1);
  }
  for (const std::int32_t length : shard.lengths) {
    for (const int quarters : {1, 3}) shard.ends.push_back(length * quarters / 4);
  }
  EXPECT_LT(largest_difference(shard), 1e-12);
}

TEST(ReferenceCuda, GivesZeroAndMinusInfinityWhereThereIsNothingToAttendTo) {
  const RankProblem shape{.local_heads = 2, .batch = 2, .query_tokens = 2, .context = 9};
  const Problem problem = make_problem(shape, {1, 0}, 1);
  const auto rows = on_gpu(problem, {0, 2, 4});  // no token, one token, no request
  EXPECT_EQ(rows[0].lse, -INFINITY);
  EXPECT_EQ(rows[0].values, std::vector<double>(512, 0.0));
  EXPECT_TRUE(std::isfinite(rows[1].lse));
  EXPECT_EQ(rows[2].lse, -INFINITY);
  EXPECT_LT(largest_difference(problem), 1e-12);
}

TEST(ReferenceCuda, TakesLongContextsInSeveralRounds) {
  const RankProblem shape{.local_heads = 128, .batch = 1, .context = 20'000};
  const Problem problem = make_problem(shape, 2);
  std::vector<std::int64_t> rows(100);  // 128 MB of sums of chunks
  std::iota(rows.begin(), rows.end(), std::int64_t{7});
  const auto got = on_gpu(problem, rows);
  ASSERT_EQ(got.size(), rows.size());
  for (const std::size_t i : {0u, 63u, 99u}) {
    const auto wanted = mla_dense_reference(problem, rows[i]);
    EXPECT_NEAR(got[i].lse, wanted.lse, 1e-12);
    EXPECT_NEAR(got[i].values[511], wanted.values[511], 1e-12);
  }
}

TEST(ReferenceCuda, GivesNothingForNoRows) {
  EXPECT_TRUE(on_gpu(make_problem(RankProblem{.context = 10}, 1), {}).empty());
}

}  // namespace
}  // namespace headsplit::kernels
