#include "kernels/per_head/per_head_cpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "tests/kernels/cpu_kernel_fixture.h"

namespace headsplit::kernels {
namespace {

RankProblem shape_of(int heads, int kv_heads, int d_k, int d_v) {
  return RankProblem{.local_heads = heads,
                     .kv_heads = kv_heads,
                     .d_rope = 0,
                     .d_nope = d_k,
                     .d_v = d_v,
                     .family = Family::per_head};
}

Problem problem_of(RankProblem shape, int query_tokens, std::vector<std::int32_t> lengths,
                   int page_tokens = 64) {
  shape.batch = static_cast<int>(lengths.size());
  shape.query_tokens = query_tokens;
  shape.context = std::max(1, *std::max_element(lengths.begin(), lengths.end()));
  Problem problem = make_problem(shape, std::move(lengths), 1, page_tokens);
  poison_page_table(problem);
  return problem;
}

std::string text_of(const RankProblem& shape) {
  return str(shape.local_heads, " heads, ", shape.kv_heads, " KV heads, ", shape.query_width(),
             " and ", shape.d_v, " wide");
}

/// Query heads, KV heads.
class PerHeadCpuGrid : public testing::TestWithParam<std::pair<int, int>> {};

TEST_P(PerHeadCpuGrid, AgreesWithTheReference) {
  const auto [heads, kv_heads] = GetParam();
  for (const int query_tokens : {1, 2, 5}) {
    for (const auto& [d_k, d_v] : {std::pair{128, 128}, {192, 128}}) {
      const RankProblem shape = shape_of(heads, kv_heads, d_k, d_v);
      for (const auto& lengths : std::vector<std::vector<std::int32_t>>{
               {0}, {1, 1}, {20}, {140, 97}, {500, 333, 1, 2, 96, 0}}) {
        EXPECT_EQ(
            run("gqa_decode", problem_of(shape, query_tokens, lengths), {}, kSlowBuild ? 6 : 40),
            "")
            << text_of(shape) << ", " << query_tokens << " query tokens, longest " << lengths[0];
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Heads, PerHeadCpuGrid,
                         testing::Values(std::pair{1, 1}, std::pair{16, 16}, std::pair{28, 4},
                                         std::pair{6, 2}, std::pair{71, 1}, std::pair{20, 1}));

TEST(PerHeadCpu, TakesHeadDimsOf64To256InMultiplesOf16ForKeysAndValuesApart) {
  for (int d_k = 64; d_k <= 256; d_k += 16) {
    const int d_v = 320 - d_k;
    for (const int heads : {1, 24}) {
      const RankProblem shape = shape_of(heads, 1, d_k, d_v);
      EXPECT_EQ(run("mqa_decode", problem_of(shape, 2, {150, 33})), "") << text_of(shape);
    }
  }
}

TEST(PerHeadCpu, ReadsPagesOfAnySize) {
  for (const int page_tokens : {16, 32, 64, 128}) {
    const RankProblem shape = shape_of(8, 2, 128, 64);
    for (const int query_tokens : {1, 9}) {
      EXPECT_EQ(run("gqa_decode", problem_of(shape, query_tokens, {500, 250, 0}, page_tokens)), "")
          << page_tokens << " tokens a page";
    }
  }
}

TEST(PerHeadCpu, ComputesAWholeCausalPrefill) {
  for (const auto& [heads, kv_heads] : {std::pair{2, 2}, {4, 1}}) {
    const RankProblem shape = shape_of(heads, kv_heads, 192, 128);
    EXPECT_EQ(run("mla_expanded", problem_of(shape, 600, {600}), {}, 0), "") << text_of(shape);
    EXPECT_EQ(run("mla_expanded", problem_of(shape, 600, {600, 599, 100}), {}, 60), "");
  }
}

TEST(PerHeadCpu, AttendsToWhatTheEndsSay) {
  Problem problem = problem_of(shape_of(3, 3, 96, 80), 40, {200, 70});
  for (int request = 0; request < 2; ++request) {
    for (int token = 0; token < 40; ++token) {
      const int length = problem.lengths[std::size_t(request)];
      problem.ends.push_back(request == 0 ? length : length * token / 40);  // not causal; its own
    }
  }
  EXPECT_EQ(run("mla_expanded", problem, {}, 0), "");
}

TEST(PerHeadCpu, ReadsItsShareOfTheWholeProblem) {
  RankProblem shape = shape_of(4, 2, 64, 64);
  shape.context = 100;
  Problem share = make_problem(shape, 5);
  share.source = {.heads = 8, .kv_heads = 4, .first_head = 4, .first_request = 0, .pages = {}};
  EXPECT_EQ(run("gqa_decode", share, {}, 0), "");
}

TEST(PerHeadCpu, AgreesWithItselfForAnyNumberOfSplits) {
  for (const int kv_heads : {1, 6}) {
    const Problem problem = problem_of(shape_of(6, kv_heads, 128, 96), 3, {900, 97, 1});
    std::vector<std::int64_t> rows(std::size_t(problem.rows()));
    std::iota(rows.begin(), rows.end(), 0);
    const auto outputs = [&](int num_splits) {
      const auto kernel = bound("gqa_decode", problem, {.num_splits = num_splits});
      kernel->poison().value();
      kernel->launch(Part::all).value();
      EXPECT_LE(kernel->config().num_splits, num_splits == 0 ? 100 : num_splits);
      return kernel->output_rows(rows).value();
    };
    const auto whole = outputs(1);
    for (const int num_splits : {0, 2, 7}) {
      const auto parts = outputs(num_splits);
      for (std::size_t row = 0; row < rows.size(); ++row) {
        for (std::size_t d = 0; d < 96; ++d) {
          ASSERT_NEAR(parts[row].values[d], whole[row].values[d], 2e-6) << num_splits << " splits";
        }
        if (std::isfinite(whole[row].lse)) {
          ASSERT_NEAR(parts[row].lse, whole[row].lse, 4e-6);
        } else {
          ASSERT_EQ(parts[row].lse, whole[row].lse);
        }
      }
    }
  }
}

TEST(PerHeadCpu, SplitsOneHeadOfOneLongRequestOverAllThreads) {
  const Problem problem = problem_of(shape_of(16, 1, 128, 128), 1, {20'000});
  const auto kernel = bound("mqa_decode", problem, {.threads = 4});
  EXPECT_GE(kernel->config().num_splits, 4);
  kernel->poison().value();
  kernel->launch(Part::split).value();
  EXPECT_FALSE(verify(*kernel, problem, 2).has_value()) << "nothing is combined yet";
  kernel->launch(Part::combine).value();
  EXPECT_TRUE(verify(*kernel, problem, 2).has_value());
}

TEST(PerHeadCpu, AgreesOnEveryInstructionSetOfThisMachine) {
  const std::int64_t supported = hwy::SupportedTargets();
  for (const std::int64_t target : {HWY_SSE4, HWY_AVX2, HWY_AVX3}) {
    if ((supported & target) == 0) continue;
    const OnlyTarget only(target);
    const std::string name = hwy::TargetName(target);
    for (const auto& [heads, kv_heads] : {std::pair{5, 5}, {28, 4}, {40, 1}}) {
      const Problem problem = problem_of(shape_of(heads, kv_heads, 192, 128), 2, {333, 40});
      EXPECT_EQ(run("gqa_decode", problem), "") << name << ", " << heads << " heads";
      EXPECT_TRUE(bound("gqa_decode", problem)->config().reason.ends_with(name));
    }
  }
}

TEST(PerHeadCpu, SaysWhatItDoesNotSupport) {
  const auto reason = [](const RankProblem& shape) {
    const auto supported = per_head_cpu_supports(shape);
    return supported ? "" : supported.error().message;
  };
  EXPECT_EQ(reason(shape_of(128, 128, 192, 128)), "");
  RankProblem shape = shape_of(8, 2, 128, 128);
  shape.kv_dtype = KvDtype::fp8;
  EXPECT_EQ(reason(shape), "per_head on the CPU reads bf16 caches only, not fp8");
  EXPECT_EQ(reason(shape_of(8, 3, 128, 128)), "per_head: 3 KV heads do not divide 8 query heads");
  EXPECT_EQ(reason(shape_of(8, 2, 72, 128)),
            "per_head: d_nope + d_rope 72: takes multiples of 16 from 64 to 256");
  EXPECT_EQ(reason(shape_of(8, 2, 128, 272)),
            "per_head: d_v 272: takes multiples of 16 from 64 to 256");
  EXPECT_EQ(reason(RankProblem{}), "per_head takes problems of the family per_head, not mla_dense");
}

}  // namespace
}  // namespace headsplit::kernels
