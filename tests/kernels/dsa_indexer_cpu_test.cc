#include "kernels/dsa_indexer/dsa_indexer_cpu.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/kernels/cpu_kernel_fixture.h"
#include "tests/kernels/indexer_cases.h"

namespace headsplit::kernels::indexer {
namespace {

std::string run(Problem problem, int threads = 0, std::int64_t rows_max = 4) {
  poison_page_table(problem);
  const auto kernel = bind_cpu(problem, {.threads = threads}).value();
  return fault_of_launches(*kernel, problem, rows_max);
}

TEST(DsaIndexerCpu, AgreesWithTheReferenceOnRaggedLengths) {
  for (const int heads : {1, 16, 40, 64}) {
    for (const auto& lengths : std::vector<std::vector<std::int32_t>>{
             {0}, {1, 1}, {20, 64, 65}, {700, 333, 0, 65}, {0, 2000, 0}}) {
      EXPECT_EQ(run(problem_of(shape_of(heads, 64), lengths)), "")
          << heads << " heads, first " << lengths[0];
    }
  }
}

TEST(DsaIndexerCpu, GivesEachQueryTokenItsOwnList) {
  for (const int query_tokens : {2, 4}) {
    const Problem problem = problem_of(shape_of(32, 128, query_tokens), {500, 3, 130, 0});
    EXPECT_EQ(run(problem), "") << query_tokens << " query tokens";
  }
}

TEST(DsaIndexerCpu, ReadsPagesOfEverySize) {
  for (const int page_tokens : {16, 32, 128}) {
    EXPECT_EQ(run(problem_of(shape_of(16, 100), {700, 17, 129}, page_tokens)), "") << page_tokens;
  }
}

TEST(DsaIndexerCpu, GivesTheSameListsWithAnyNumberOfThreads) {
  for (const int threads : {1, 3}) {
    EXPECT_EQ(run(problem_of(shape_of(16, 200), {1500, 300}), threads), "") << threads;
  }
}

/// One head: where its product is negative the score is 0, so half of all scores are equal.
TEST(DsaIndexerCpu, TakesTheEarlierOfEqualScores) {
  int ties = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const Problem problem = problem_of(shape_of(1, 700), {1000, 800}, 64, seed);
    const auto kernel = bind_cpu(problem, {}).value();
    EXPECT_EQ(fault_of_launches(*kernel, problem, 2), "") << "seed " << seed;
    const RowResult result = kernel->row_result(0).value();
    float smallest = INFINITY;
    for (const auto token : best_tokens(result.scores, 700)) {
      smallest = std::min(smallest, result.scores[std::size_t(token)]);
    }
    ties += smallest == 0;
  }
  EXPECT_GT(ties, 0) << "no seed made the threshold a tie";
}

TEST(DsaIndexerCpu, AgreesOnEveryInstructionSetOfThisMachine) {
  const std::int64_t supported = hwy::SupportedTargets();
  for (const std::int64_t target : {HWY_SSE4, HWY_AVX2, HWY_AVX3}) {
    if ((supported & target) == 0) continue;
    const OnlyTarget only(target);
    const Problem problem = problem_of(shape_of(40, 100, 2), {450, 33});
    EXPECT_EQ(run(problem), "") << hwy::TargetName(target);
    EXPECT_TRUE(bind_cpu(problem, {}).value()->config().reason.ends_with(hwy::TargetName(target)));
  }
}

TEST(DsaIndexerCpu, FindsWhatScoresAndSelectionApartFindTogether) {
  const Problem problem = problem_of(shape_of(16, 50), {900, 40});
  const auto kernel = bind_cpu(problem, {}).value();
  kernel->poison().value();
  kernel->launch(Part::split).value();
  EXPECT_NE(fault_of_lists(*kernel, problem), "");
  kernel->launch(Part::combine).value();
  EXPECT_EQ(fault_of_lists(*kernel, problem), "");
}

TEST(DsaIndexerCpu, SaysWhatItDoesNotSupport) {
  const auto reason = [](const RankProblem& shape) {
    const auto supported = dsa_indexer_cpu_supports(shape);
    return supported ? "" : supported.error().message;
  };
  EXPECT_EQ(reason(shape_of(64, 2048)), "");
  EXPECT_EQ(reason(shape_of(65, 2048)), "dsa_indexer takes 1 to 64 index heads, not 65");
  EXPECT_EQ(reason(shape_of(64, 0)), "dsa_indexer takes a positive top_k, not 0");
  RankProblem shape = shape_of(64, 2048);
  shape.index_dim = 64;
  EXPECT_EQ(reason(shape), "dsa_indexer takes index keys of 128 values, not 64");
  EXPECT_EQ(reason(RankProblem{}),
            "dsa_indexer takes problems of the family dsa_indexer, not mla_dense");
}

/// What a kernel may not get past the judgement with.
TEST(DsaIndexerJudgement, SeesWrongLists) {
  const Problem problem = problem_of(shape_of(16, 50), {900});
  const auto kernel = bind_cpu(problem, {}).value();
  kernel->launch(Part::all).value();
  const RowResult right = kernel->row_result(0).value();
  const auto reference =
      dsa_indexer_reference_rows(problem, std::vector<std::int64_t>{0}).value().front();
  const OutputRow good = judged_row(problem, 0, right);
  EXPECT_EQ(good.lse, 0);
  EXPECT_NEAR(good.values[0], reference.values[0], 1e-4);
  EXPECT_NEAR(good.values[49], reference.values[49], 1e-4);

  RowResult wrong = right;
  wrong.chosen[3] = wrong.chosen[4];  // twice the same
  EXPECT_TRUE(std::isnan(judged_row(problem, 0, wrong).lse));
  EXPECT_TRUE(std::isnan(judged_row(problem, 0, wrong).values[4]));
  wrong = right;
  wrong.chosen[7] = problem.page_count * problem.page_tokens;  // nobody's
  EXPECT_TRUE(std::isnan(judged_row(problem, 0, wrong).values[7]));
  wrong = right;
  wrong.chosen[0] = kNoToken;  // one too few
  EXPECT_TRUE(std::isnan(judged_row(problem, 0, wrong).lse));
  EXPECT_EQ(judged_row(problem, 0, wrong).values[49], -INFINITY);
  wrong = right;
  for (float& score : wrong.scores) score *= 1.01f;  // the same order
  EXPECT_TRUE(std::isnan(judged_row(problem, 0, wrong).lse));
}

}  // namespace
}  // namespace headsplit::kernels::indexer
