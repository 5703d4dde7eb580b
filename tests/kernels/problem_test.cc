#include "kernels/problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace headsplit::kernels {
namespace {

RankProblem deepseek_v3(int local_heads, int batch, int query_tokens, std::int64_t context) {
  return RankProblem{
      .local_heads = local_heads, .batch = batch, .query_tokens = query_tokens, .context = context};
}

TEST(Problem, EveryCachedPageBelongsToOneRequestAndTheRestIsUnused) {
  RankProblem shape = deepseek_v3(1, 9, 1, 1000);
  shape.lengths = Lengths::ragged;
  const Problem problem = make_problem(shape, 7, 16);
  ASSERT_EQ(problem.pages_per_request, 63);
  std::set<std::int32_t> taken;
  for (int request = 0; request < 9; ++request) {
    const int pages = (problem.lengths[std::size_t(request)] + 15) / 16;
    for (int column = 0; column < problem.pages_per_request; ++column) {
      const auto page = problem.page_table[std::size_t(request * 63 + column)];
      if (column >= pages) {
        EXPECT_EQ(page, kUnusedPage);
        continue;
      }
      EXPECT_TRUE(page >= 0 && page < problem.page_count);
      EXPECT_TRUE(taken.insert(page).second) << "page " << page << " twice";
    }
  }
  EXPECT_LT(taken.size(), std::size_t(problem.page_count)) << "no page of nobody";
}

TEST(Problem, PagesAreShuffled) {
  const Problem problem = make_problem(deepseek_v3(1, 1, 1, 64 * 100), 1);
  int neighbours = 0;
  for (std::size_t i = 1; i < problem.page_table.size(); ++i) {
    neighbours += problem.page_table[i] == problem.page_table[i - 1] + 1 ? 1 : 0;
  }
  EXPECT_LT(neighbours, 10);
}

TEST(Problem, RaggedLengthsCoverTheFullContextAndNothing) {
  RankProblem shape = deepseek_v3(1, 200, 1, 1000);
  shape.lengths = Lengths::ragged;
  const Problem problem = make_problem(shape, 3);
  EXPECT_EQ(problem.lengths.front(), 1000);
  EXPECT_EQ(problem.lengths.back(), 0);
  const double mean = double(problem.length_sum()) / 200;
  EXPECT_NEAR(mean, 500, 65);  // three standard errors of a uniform distribution
  EXPECT_EQ(make_problem(shape, 3).lengths, problem.lengths);
  EXPECT_NE(make_problem(shape, 4).lengths, problem.lengths);
}

TEST(Problem, EqualLengthsAreTheContext) {
  const Problem problem = make_problem(deepseek_v3(1, 3, 1, 77), 3);
  EXPECT_EQ(problem.lengths, (std::vector<std::int32_t>{77, 77, 77}));
}

TEST(Problem, EarlierQueryTokensAttendToFewerTokens) {
  const Problem problem = make_problem(deepseek_v3(1, 3, 4, 10), {10, 2, 0}, 1);
  EXPECT_EQ(problem.attended(0, 3), 10);
  EXPECT_EQ(problem.attended(0, 0), 7);
  EXPECT_EQ(problem.attended(1, 2), 1);
  EXPECT_EQ(problem.attended(1, 0), 0);
  EXPECT_EQ(problem.attended(2, 3), 0);
}

TEST(Problem, ScaleIsThatOfTheUnabsorbedHeads) {
  const Problem problem = make_problem(deepseek_v3(1, 1, 1, 1), 1);
  EXPECT_FLOAT_EQ(problem.softmax_scale, float(1 / std::sqrt(192.0)));
}

TEST(Work, DeepSeekV3HasTheHandComputedFlopsAndBytes) {
  // 2 x T x H x sum(L) x (576 + 512); 1152 bytes a token; B x T x H x (576 + 512) x 2 bytes.
  const Work counted = work(make_problem(deepseek_v3(16, 2, 2, 5000), {5000, 3000}, 1));
  EXPECT_DOUBLE_EQ(counted.flops, 2.0 * 2 * 16 * 8000 * 1088);
  EXPECT_DOUBLE_EQ(counted.kv_bytes, 8000.0 * 1152);
  EXPECT_DOUBLE_EQ(counted.qo_bytes, 2.0 * 2 * 16 * 1088 * 2);
  EXPECT_DOUBLE_EQ(counted.hbm_bytes(), counted.kv_bytes + counted.qo_bytes);
}

TEST(Work, IntensityOfLongContextsNearsTwoHeadsTimesWidthOverRowBytes) {
  const Work counted = work(make_problem(deepseek_v3(128, 1, 1, 1 << 20), 1));
  EXPECT_NEAR(counted.flops / counted.hbm_bytes(), 2.0 * 128 * 1088 / 1152, 0.1);
}

TEST(CacheRow, IsTwoBytesAValueOrOneOfTheFp8Tokens) {
  RankProblem shape = deepseek_v3(1, 1, 1, 1);
  EXPECT_EQ(cache_row_bytes(shape), 1152);
  shape.kv_dtype = KvDtype::fp8;
  EXPECT_EQ(cache_row_bytes(shape), 656);
  shape.kv_dtype = KvDtype::fp8_tensor;
  EXPECT_EQ(cache_row_bytes(shape), 576);
}

TEST(Memory, CoversTheCacheAndGrowsWithTheBatch) {
  const double one_bytes = memory_bytes(deepseek_v3(16, 1, 1, 4096));
  const double many_bytes = memory_bytes(deepseek_v3(16, 64, 1, 4096));
  EXPECT_GT(one_bytes, 4096.0 * 1152);
  EXPECT_GT(many_bytes, 64 * 4096.0 * 1152);
  EXPECT_LT(many_bytes, 1.2 * 64 * 4096.0 * 1152);
}

RankProblem per_head(int heads, int kv_heads, int query_tokens, std::int64_t context) {
  return RankProblem{.local_heads = heads,
                     .kv_heads = kv_heads,
                     .batch = 2,
                     .query_tokens = query_tokens,
                     .context = context,
                     .family = Family::per_head};
}

TEST(Work, OfPerHeadKernelsCountsTheCacheOfItsKvHeads) {
  // 2 x T x H x sum(L) x (192 + 128); 2 x G x 320 bytes a token; B x T x H x 320 x 2 bytes.
  const Work counted = work(make_problem(per_head(28, 4, 2, 5000), {5000, 3000}, 1));
  EXPECT_DOUBLE_EQ(counted.flops, 2.0 * 2 * 28 * 8000 * 320);
  EXPECT_DOUBLE_EQ(counted.kv_bytes, 8000.0 * 2 * 4 * 320);
  EXPECT_DOUBLE_EQ(counted.qo_bytes, 2.0 * 2 * 28 * 320 * 2);
}

TEST(Work, OfAPerHeadPrefillCountsWhatEachTokenAttendsTo) {
  const Work counted = work(make_problem(per_head(3, 3, 100, 100), {100, 60}, 1));
  const double pairs = 100 * 101 / 2 + 60 * 61 / 2;
  EXPECT_DOUBLE_EQ(counted.flops, 2.0 * 3 * pairs * 320);
}

TEST(Work, OfAnExpansionIsTheProductsAndWhatIsReadAndWritten) {
  RankProblem shape = per_head(16, 16, 1, 5000);
  shape.family = Family::kv_expand;
  const Work counted = work(make_problem(shape, {5000, 3000}, 1));
  EXPECT_DOUBLE_EQ(counted.flops, 2.0 * 8000 * 16 * 512 * (128 + 128));
  EXPECT_DOUBLE_EQ(counted.kv_bytes, 8000.0 * (2 * 576 + 2 * 16 * 320));
  EXPECT_DOUBLE_EQ(counted.qo_bytes, 0);
}

TEST(Memory, OfAPrefillIsNotThatOfASplitOfEveryRow) {
  // 16384 tokens x 128 heads: Q and the fp32 output and partials of 2 M rows, and 1.3 GB of cache.
  RankProblem shape = per_head(128, 128, 16384, 16384);
  shape.batch = 1;
  EXPECT_GT(memory_bytes(shape), 16384.0 * 128 * (2 * 320 + 2 * 192 + 4 * 128));
  EXPECT_LT(memory_bytes(shape), 6e9);
}

TEST(Memory, OfAnExpansionHoldsLatentsWeightsKeysAndValues) {
  RankProblem shape = per_head(16, 16, 1, 65536);
  shape.family = Family::kv_expand;
  const double needed = 2 * 65536.0 * (2 * 576 + 2 * 16 * 320) + 2.0 * 16 * 256 * 512;
  EXPECT_GT(memory_bytes(shape), needed);
  EXPECT_LT(memory_bytes(shape), 1.1 * needed);
}

}  // namespace
}  // namespace headsplit::kernels
