#include "kernels/dsa_indexer/dsa_indexer_cuda.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/device/stream.h"
#include "tests/kernels/indexer_cases.h"

namespace headsplit::kernels::indexer {
namespace {

std::string run(const Problem& problem, const Tuning& tuning = {}, std::int64_t rows_max = 4) {
  const Stream stream = Stream::make().value();
  const auto kernel = bind_cuda(problem, {.stream = stream.get()}, tuning).value();
  return fault_of_launches(*kernel, problem, rows_max);
}

class DsaIndexerCuda : public testing::TestWithParam<bool> {
 protected:
  static Tuning tuning() { return {.portable = GetParam()}; }
};

INSTANTIATE_TEST_SUITE_P(Scores, DsaIndexerCuda, testing::Bool(),
                         [](const auto& which) { return which.param ? "Portable" : "Best"; });

TEST_P(DsaIndexerCuda, AgreesWithTheReferenceOnRaggedLengths) {
  for (const int heads : {1, 16, 24, 32, 40, 64}) {
    for (const auto& lengths : std::vector<std::vector<std::int32_t>>{
             {0}, {1, 1}, {20, 64, 65}, {140, 64}, {700, 333, 0, 65}, {0, 2000, 0}}) {
      EXPECT_EQ(run(problem_of(shape_of(heads, 64), lengths), tuning()), "")
          << heads << " heads, first " << lengths[0];
    }
  }
}

TEST_P(DsaIndexerCuda, GivesEachQueryTokenItsOwnList) {
  for (const int query_tokens : {2, 3, 4, 5, 9}) {
    const Problem problem =
        problem_of(shape_of(64, 128, query_tokens), {1000, 3, 130, 0, 128 + query_tokens});
    EXPECT_EQ(run(problem, tuning()), "") << query_tokens << " query tokens";
  }
}

TEST_P(DsaIndexerCuda, ReadsPagesOfEverySize) {
  for (const int page_tokens : {16, 32, 64, 128}) {
    EXPECT_EQ(run(problem_of(shape_of(64, 100, 2), {700, 17, 129}, page_tokens), tuning()), "")
        << page_tokens;
  }
}

TEST_P(DsaIndexerCuda, SharesManyRequestsOutToItsCtas) {
  std::vector<std::int32_t> lengths;
  for (int i = 0; i < 200; ++i) lengths.push_back(i * 37 % 1500);
  EXPECT_EQ(run(problem_of(shape_of(64, 256), lengths), tuning(), 16), "");
}

TEST_P(DsaIndexerCuda, ChoosesTheModelsTopKOfALongContext) {
  EXPECT_EQ(run(problem_of(shape_of(64, 2048), {70'000, 2049, 2048, 2047}), tuning()), "");
}

TEST(DsaIndexerCudaSelection, IsTheSameWithAnyNumberOfCtas) {
  for (const int ctas : {1, 2, 4, 8}) {
    for (const int top_k : {1, 100, 2048}) {
      const Problem problem = problem_of(shape_of(32, top_k), {30'000, 100, 5000});
      EXPECT_EQ(run(problem, {.select_ctas = ctas}), "") << ctas << " CTAs, top " << top_k;
    }
  }
}

class DsaIndexerCudaTies : public testing::TestWithParam<int> {};

/// One head: where its product is negative the score is 0, so half of all scores are equal.
TEST_P(DsaIndexerCudaTies, TakesTheEarlierOfEqualScores) {
  int ties = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    const Problem problem = problem_of(shape_of(1, 3000), {40'000, 4000}, 64, seed);
    const auto kernel = bind_cuda(problem, {}, {.select_ctas = GetParam()}).value();
    EXPECT_EQ(fault_of_launches(*kernel, problem, 2), "") << "seed " << seed;
    const RowResult result = kernel->row_result(0).value();
    const auto best = best_tokens(result.scores, 3000);
    float smallest = INFINITY;
    for (const auto token : best) {
      smallest = std::min(smallest, result.scores[std::size_t(token)]);
    }
    ties += smallest == 0;
  }
  EXPECT_GT(ties, 0) << "no seed made the threshold a tie";
}
INSTANTIATE_TEST_SUITE_P(Ctas, DsaIndexerCudaTies, testing::Values(1, 8));

TEST(DsaIndexerCudaSelection, FindsWhatScoresAndSelectionApartFindTogether) {
  const Problem problem = problem_of(shape_of(64, 500), {9000, 400});
  const auto kernel = bind_cuda(problem, {}, {}).value();
  kernel->poison().value();
  kernel->launch(Part::split).value();
  EXPECT_NE(fault_of_lists(*kernel, problem), "");
  kernel->launch(Part::combine).value();
  EXPECT_EQ(fault_of_lists(*kernel, problem), "");
}

TEST(DsaIndexerCudaSelection, TakesTheTokensOfAShare) {
  RankProblem shape = shape_of(64, 50);
  shape.batch = 2;
  shape.context = 300;
  Problem share = make_problem(shape, 5);
  share.source = {.heads = 1, .kv_heads = 1, .first_head = 0, .first_request = 3, .pages = {}};
  EXPECT_EQ(run(share), "");
}

/// A sparse attention that is bound to the lists, against fp64 on what they turned out to be.
TEST(DsaIndexerCudaPair, SparseAttentionReadsTheListsThatTheIndexerWrites) {
  const Stream stream = Stream::make().value();
  const std::vector<std::int32_t> lengths{3000, 700, 0, 1024};
  const Problem scored = problem_of(shape_of(64, 512, 2), lengths);
  const auto indexer = bind_cuda(scored, {.stream = stream.get()}, {}).value();
  for (const KvDtype dtype : {KvDtype::bf16, KvDtype::fp8}) {
    RankProblem shape = scored.shape;
    shape.family = Family::mla_sparse;
    shape.local_heads = 16;
    shape.kv_dtype = dtype;
    Problem problem = make_problem(shape, lengths, 1);
    ASSERT_EQ(problem.page_table, scored.page_table);
    const auto attend = find_kernel("mla_sparse", Backend::cuda)
                            .value()
                            ->bind(problem, {.stream = stream.get(), .lists = indexer->lists()})
                            .value();
    indexer->poison().value();
    attend->poison().value();
    indexer->launch(Part::all).value();
    attend->launch(Part::all).value();
    problem.indices.clear();
    for (std::int64_t row = 0; row < scored.rows(); ++row) {
      const RowResult result = indexer->row_result(row).value();
      problem.indices.insert(problem.indices.end(), result.chosen.begin(), result.chosen.end());
      EXPECT_EQ(problem.top_k_lengths[std::size_t(row)], indexer->chosen_count(row).value());
    }
    const auto verified = verify(*attend, problem, 40);
    EXPECT_EQ(verified ? "" : verified.error().message, "") << enum_name(dtype);
  }
}

TEST(DsaIndexerCudaSelection, SaysWhatItDoesNotSupport) {
  RankProblem shape = shape_of(64, 2048);
  shape.index_heads = 65;
  EXPECT_EQ(dsa_indexer_cuda_supports(shape).error().message,
            "dsa_indexer takes 1 to 64 index heads, not 65");
  shape = shape_of(64, 0);
  EXPECT_EQ(dsa_indexer_cuda_supports(shape).error().message,
            "dsa_indexer takes a positive top_k, not 0");
}

}  // namespace
}  // namespace headsplit::kernels::indexer
