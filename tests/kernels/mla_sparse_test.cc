#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "kernels/mla_sparse/lists.h"
#include "kernels/mla_sparse/reference.h"
#include "tests/kernels/cpu_kernel_fixture.h"
#include "tests/kernels/sparse_problem.h"

namespace headsplit::kernels {
namespace {

std::string run(const Problem& problem, BindOptions options = {}, std::int64_t rows_max = 12) {
  return kernels::run("mla_sparse", problem, options, rows_max);
}

std::vector<std::int64_t> all_rows(const Problem& problem) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(problem.rows()));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i);
  return rows;
}

TEST(SparseProblem, ListsDistinctTokensThatTheQueryTokenAttendsTo) {
  const Problem problem = sparse_problem({.batch = 3, .query_tokens = 2, .top_k = 100});
  EXPECT_EQ(problem.top_k_lengths, std::vector<std::int32_t>(6, 100));
  for (int request = 0; request < 3; ++request) {
    for (int token = 0; token < 2; ++token) {
      const auto slots = problem.chosen_slots(request, token);
      EXPECT_EQ(std::set<std::int32_t>(slots.begin(), slots.end()).size(), 100u);
      EXPECT_FALSE(std::is_sorted(slots.begin(), slots.end()));
      const auto* const pages = problem.page_table.data() + request * problem.pages_per_request;
      for (const std::int32_t slot : slots) {
        const auto* const page = std::find(pages, pages + problem.pages_per_request, slot / 64);
        ASSERT_NE(page, pages + problem.pages_per_request) << "a page of the request";
        EXPECT_LT((page - pages) * 64 + slot % 64, problem.attended(request, token));
      }
    }
  }
  EXPECT_NE(problem.chosen_slots(0, 0), problem.chosen_slots(0, 1)) << "lists of their own";
}

TEST(SparseProblem, ListsAllTokensWhereThereAreFewerThanTopK) {
  RankProblem shape = sparse_shape({.batch = 3, .query_tokens = 2, .context = 50, .top_k = 64});
  const Problem problem = make_problem(shape, std::vector<std::int32_t>{50, 2, 0}, 1);
  EXPECT_EQ(problem.top_k_lengths, (std::vector<std::int32_t>{49, 50, 1, 2, 0, 0}));
  EXPECT_EQ(problem.indices.size(), 6u * 64u);
  EXPECT_EQ(problem.chosen_slots(0, 0).size(), 49u);
  EXPECT_EQ(work(problem).kv_bytes, (49 + 50 + 1 + 2) * 1152.0);
  EXPECT_EQ(work(problem).flops, 2.0 * 102 * 16 * 1088);
}

TEST(SparseProblem, SkipsWhatIsNoSlot) {
  Problem problem = sparse_problem({.top_k = 8});
  const auto before = problem.chosen_slots(1, 0);
  problem.indices[8] = -1;
  problem.indices[11] = static_cast<std::int32_t>(problem.slot_count());
  problem.indices[15] = -100;
  problem.top_k_lengths[1] = 7;
  const std::vector<std::int32_t> left{before[1], before[2], before[4], before[5], before[6]};
  EXPECT_EQ(problem.chosen_slots(1, 0), left);
}

TEST(SparseReference, EqualsTheDenseOneWhenAllTokensAreListed) {
  const SparseSizes sizes{.heads = 3, .query_tokens = 2, .context = 70, .top_k = 128};
  const Problem problem = sparse_problem(sizes);
  Problem dense = problem;
  dense.shape.family = Family::mla_dense;
  const auto rows = all_rows(problem);
  const auto found = reference_rows(problem, rows).value();
  const auto wanted = reference_rows(dense, rows).value();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_NEAR(found[i].lse, wanted[i].lse, 1e-12);
    for (std::size_t d = 0; d < 512; ++d) {
      ASSERT_NEAR(found[i].values[d], wanted[i].values[d], 1e-12);
    }
  }
}

TEST(SparseReference, PutsASinkIntoTheDenominatorOnly) {
  Problem problem = sparse_problem({.heads = 2, .batch = 1});
  const auto without = reference_rows(problem, all_rows(problem)).value();
  problem.sinks = {static_cast<float>(without[0].lse), -1e30f};
  const auto with = reference_rows(problem, all_rows(problem)).value();
  EXPECT_EQ(with[0].lse, without[0].lse);
  EXPECT_NEAR(with[0].values[7], without[0].values[7] / 2, 1e-6) << "as heavy as all tokens";
  EXPECT_EQ(with[1].values, without[1].values);
}

class MlaSparseCpuGrid : public testing::TestWithParam<int> {};

TEST_P(MlaSparseCpuGrid, AgreesWithTheReferenceForAnyListAndQueryTokens) {
  for (const int query_tokens : {1, 2, 4}) {
    for (const int top_k : {64, 500, 1200}) {
      for (const int bad_one_of : {0, 4}) {
        if (kSlowBuild && top_k > 64) continue;
        Problem problem = sparse_problem({.heads = GetParam(),
                                          .batch = 4,
                                          .query_tokens = query_tokens,
                                          .context = 900,
                                          .top_k = top_k,
                                          .lengths = Lengths::ragged});
        if (bad_one_of > 0) spoil(problem, bad_one_of);
        EXPECT_EQ(run(problem), "")
            << query_tokens << " query tokens, k " << top_k << ", bad: " << bad_one_of;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Heads, MlaSparseCpuGrid, testing::Values(8, 12, 16, 20, 40, 64, 128));

TEST(MlaSparseCpu, GivesZeroAndMinusInfinityWhereNothingCounts) {
  Problem problem = sparse_problem({.heads = 20, .top_k = 64});
  std::fill(problem.indices.begin(), problem.indices.begin() + 64, -1);
  problem.sinks.assign(20, 0.5f);
  const auto kernel = bound("mla_sparse", problem);
  kernel->poison().value();
  kernel->launch(Part::all).value();
  const auto row = kernel->output_rows(std::vector<std::int64_t>{3}).value().front();
  EXPECT_EQ(row.lse, -std::numeric_limits<float>::infinity());
  EXPECT_EQ(row.values, std::vector<float>(512, 0.0f));
  EXPECT_TRUE(verify(*kernel, problem, 0).has_value());
}

TEST(MlaSparseCpu, TakesListsOfSlotsThatRequestsShare) {
  Problem problem = sparse_problem({.heads = 12, .batch = 3, .top_k = 200});
  std::copy_n(problem.indices.begin(), 200, problem.indices.begin() + 200);
  problem.top_k_lengths = {200, 150, 1};
  EXPECT_EQ(run(problem), "");
}

TEST(MlaSparseCpu, AppliesSinksHoweverItSplits) {
  for (const int splits : {1, 3}) {
    Problem problem = sparse_problem({.heads = 40, .query_tokens = 2});
    for (int head = 0; head < 40; ++head) {
      problem.sinks.push_back(static_cast<float>(head) / 4 - 2);
    }
    EXPECT_EQ(run(problem, {.num_splits = splits}), "") << splits;
  }
}

TEST(MlaSparseCpu, SaysWhyItCannot) {
  const KernelEntry* entry = find_kernel("mla_sparse", Backend::cpu).value();
  const auto reason = [&](const RankProblem& shape) {
    return entry->supports(shape).error().message;
  };
  EXPECT_EQ(reason(RankProblem{}),
            "mla_sparse takes problems of the family mla_sparse, not mla_dense");
  EXPECT_EQ(reason(sparse_shape({.heads = 129})), "mla_sparse takes 1 to 128 local heads, not 129");
  EXPECT_EQ(reason(sparse_shape({.top_k = 0})), "mla_sparse takes a top_k of 1 to 65536, not 0");
  EXPECT_EQ(reason(sparse_shape({.kv_dtype = KvDtype::fp8})),
            "mla_sparse on the CPU reads bf16 caches only, not fp8");
}

}  // namespace
}  // namespace headsplit::kernels
