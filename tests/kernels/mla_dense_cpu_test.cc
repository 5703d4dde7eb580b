#include "kernels/mla_dense/mla_dense_cpu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>

#include "tests/kernels/cpu_kernel_fixture.h"

namespace headsplit::kernels {
namespace {

std::unique_ptr<BoundKernel> bound(const Problem& problem, BindOptions options = {}) {
  return kernels::bound("mla_dense", problem, options);
}

std::string run(const Problem& problem, BindOptions options = {}, std::int64_t rows_max = 8) {
  return kernels::run("mla_dense", problem, options, rows_max);
}

struct LengthCase {
  std::string name;
  std::int64_t context;
  std::vector<std::int32_t> lengths;
};

std::vector<LengthCase> length_cases() {
  return {{"0", 200, {0}},        {"1", 200, {1, 1}},
          {"20", 200, {20}},      {"140", 200, {140, 140}},
          {"4096", 4200, {4096}}, {"ragged", 700, {700, 333, 1, 2, 96, 0}}};
}

/// Local heads x query tokens, each with all lengths.
class MlaDenseCpuGrid : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(MlaDenseCpuGrid, AgreesWithTheReference) {
  const auto [heads, query_tokens] = GetParam();
  for (const auto& [name, context, lengths] : length_cases()) {
    if (kSlowBuild && context > 1000) continue;
    const RankProblem shape{.local_heads = heads,
                            .batch = static_cast<int>(lengths.size()),
                            .query_tokens = query_tokens,
                            .context = context};
    Problem problem = make_problem(shape, lengths, 1);
    poison_page_table(problem);
    // Rows of long contexts cost the reference much; of short ones many are checked.
    const std::int64_t rows_max = kSlowBuild ? 6 : context > 1000 ? 4 : 40;
    EXPECT_EQ(run(problem, {}, rows_max), "") << "lengths " << name;
  }
}

std::vector<std::tuple<int, int>> grid() {
  std::vector<std::tuple<int, int>> cases;
  const std::vector<int> all_heads = {1, 3, 8, 9, 16, 63, 64, 126, 128};
  for (const int heads : kSlowBuild ? std::vector<int>{1, 9, 63} : all_heads) {
    for (const int query_tokens : {1, 2, 4}) cases.emplace_back(heads, query_tokens);
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(HeadsAndQueryTokens, MlaDenseCpuGrid, testing::ValuesIn(grid()));

TEST(MlaDenseCpu, ReadsPagesOfAnySize) {
  for (const int page_tokens : {16, 32, 64, 128}) {
    for (const int heads : {2, 40}) {
      const RankProblem shape{
          .local_heads = heads, .batch = 3, .context = 500, .lengths = Lengths::ragged};
      Problem problem = make_problem(shape, 5, page_tokens);
      poison_page_table(problem);
      EXPECT_EQ(run(problem), "") << page_tokens << " tokens a page, " << heads << " heads";
    }
  }
}

TEST(MlaDenseCpu, AgreesWithItselfForAnyNumberOfSplits) {
  for (const int heads : {2, 40}) {
    const RankProblem shape{.local_heads = heads, .batch = 3, .query_tokens = 2, .context = 900};
    const Problem problem = make_problem(shape, {900, 97, 1}, 2);
    std::vector<std::int64_t> rows(std::size_t(problem.rows()));
    std::iota(rows.begin(), rows.end(), 0);
    const auto outputs = [&](int num_splits) {
      const auto kernel = bound(problem, {.num_splits = num_splits});
      kernel->poison().value();
      kernel->launch(Part::all).value();
      EXPECT_LE(kernel->config().num_splits, num_splits == 0 ? 100 : num_splits);
      return kernel->output_rows(rows).value();
    };
    const auto whole = outputs(1);
    for (const int num_splits : {0, 2, 7}) {
      const auto parts = outputs(num_splits);
      for (std::size_t row = 0; row < rows.size(); ++row) {
        for (std::size_t d = 0; d < 512; ++d) {
          ASSERT_NEAR(parts[row].values[d], whole[row].values[d], 2e-6) << num_splits << " splits";
        }
        if (std::isfinite(whole[row].lse)) {
          ASSERT_NEAR(parts[row].lse, whole[row].lse, 2e-6);
        } else {
          ASSERT_EQ(parts[row].lse, whole[row].lse);
        }
      }
    }
  }
}

TEST(MlaDenseCpu, GivesTheSameBitsOnAnyNumberOfThreadsWhenSplitsAreFixed) {
  const RankProblem shape{.local_heads = 30, .batch = 2, .context = 700};
  const Problem problem = make_problem(shape, 2);
  std::vector<std::vector<float>> results;
  for (const int threads : {1, 2, 5}) {
    const auto kernel = bound(problem, {.threads = threads, .num_splits = 3});
    kernel->launch(Part::all).value();
    const std::int64_t row = 31;
    results.push_back(kernel->output_rows({&row, 1}).value().front().values);
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(MlaDenseCpu, SplitAndCombineApartMakeTheWhole) {
  const RankProblem shape{.local_heads = 4, .batch = 1, .context = 600};
  const Problem problem = make_problem(shape, 2);
  const auto kernel = bound(problem, {.num_splits = 2});
  kernel->poison().value();
  kernel->launch(Part::split).value();
  EXPECT_FALSE(verify(*kernel, problem, 0).has_value()) << "nothing is combined yet";
  kernel->launch(Part::combine).value();
  EXPECT_TRUE(verify(*kernel, problem, 0).has_value());
}

TEST(MlaDenseCpu, TakesAnyWidth) {
  for (const auto& [d_latent, d_rope] : {std::pair{512, 0}, {256, 64}, {96, 20}, {37, 5}, {1, 0}}) {
    for (const int heads : {3, 33}) {
      const RankProblem shape{.local_heads = heads,
                              .batch = 2,
                              .query_tokens = 2,
                              .context = 150,
                              .d_latent = d_latent,
                              .d_rope = d_rope};
      EXPECT_EQ(run(make_problem(shape, 3)), "") << d_latent << " + " << d_rope << ", " << heads;
    }
  }
}

TEST(MlaDenseCpu, AgreesOnEveryInstructionSetOfThisMachine) {
  const std::int64_t supported = hwy::SupportedTargets();
  for (const std::int64_t target : {HWY_SSE4, HWY_AVX2, HWY_AVX3}) {
    if ((supported & target) == 0) continue;
    const OnlyTarget only(target);
    const std::string name = hwy::TargetName(target);
    for (const int heads : {1, 6, 20, 63}) {
      const RankProblem shape{.local_heads = heads, .batch = 2, .query_tokens = 2, .context = 333};
      const Problem problem = make_problem(shape, 3);
      EXPECT_EQ(run(problem), "") << name << ", " << heads << " heads";
      EXPECT_TRUE(bound(problem)->config().reason.ends_with(name)) << "another one was taken";
    }
  }
}

TEST(MlaDenseCpu, SplitsFewLongRequestsOverAllThreads) {
  const RankProblem one_request{.local_heads = 16, .batch = 1, .context = 20'000};
  const Problem problem = make_problem(one_request, 1);
  EXPECT_GE(bound(problem, {.threads = 4})->config().num_splits, 4);
  EXPECT_EQ(bound(problem, {.threads = 1})->config().num_splits, 1);
}

TEST(MlaDenseCpu, SaysWhatItDoesNotSupport) {
  const auto reason = [](const RankProblem& shape) {
    const auto supported = mla_dense_cpu_supports(shape);
    return supported ? "" : supported.error().message;
  };
  EXPECT_EQ(reason(RankProblem{.local_heads = 128}), "");
  EXPECT_EQ(reason(RankProblem{.kv_dtype = KvDtype::fp8}),
            "mla_dense on the CPU reads bf16 caches only, not fp8");
  EXPECT_EQ(reason(RankProblem{.local_heads = 129}),
            "mla_dense takes 1 to 128 local heads, not 129");
  EXPECT_NE(reason(RankProblem{.context = std::int64_t{1} << 24}), "");
  EXPECT_NE(reason(RankProblem{.query_tokens = 0}), "");
  EXPECT_EQ(reason(RankProblem{.family = Family::per_head}),
            "mla_dense takes problems of the family mla_dense, not per_head");
}

TEST(MlaDenseCpu, RefusesRowsThatDoNotExist) {
  const auto kernel = bound(make_problem(RankProblem{.local_heads = 2, .context = 10}, 1));
  const std::int64_t row = 2;
  const auto rows = kernel->output_rows({&row, 1});
  ASSERT_FALSE(rows.has_value());
  EXPECT_EQ(rows.error().message, "output row 2 is not in 0..1");
}

}  // namespace
}  // namespace headsplit::kernels
