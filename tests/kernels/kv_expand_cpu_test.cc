#include "kernels/kv_expand/kv_expand_cpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/kv_expand/shape.h"
#include "tests/kernels/cpu_kernel_fixture.h"

namespace headsplit::kernels {
namespace {

RankProblem shape_of(int heads) {
  return RankProblem{.local_heads = heads, .kv_heads = heads, .family = Family::kv_expand};
}

Problem problem_of(RankProblem shape, std::vector<std::int32_t> lengths, int page_tokens = 64) {
  shape.batch = static_cast<int>(lengths.size());
  shape.context = std::max(1, *std::max_element(lengths.begin(), lengths.end()));
  Problem problem = make_problem(shape, std::move(lengths), 1, page_tokens);
  poison_page_table(problem);
  return problem;
}

TEST(KvExpandCpu, AgreesWithTheReferenceOnRaggedLengths) {
  for (const int heads : {1, 5}) {
    for (const auto& lengths :
         std::vector<std::vector<std::int32_t>>{{0}, {1, 1}, {20}, {140, 64}, {700, 333, 0, 65}}) {
      EXPECT_EQ(run("kv_expand", problem_of(shape_of(heads), lengths), {}, 60), "")
          << heads << " heads, longest " << lengths[0];
    }
  }
}

TEST(KvExpandCpu, TakesPagesOfAnySize) {
  for (const int page_tokens : {16, 32, 128}) {
    EXPECT_EQ(run("kv_expand", problem_of(shape_of(3), {300, 17}, page_tokens), {}, 60), "");
  }
}

TEST(KvExpandCpu, TakesAnyWidth) {
  struct Widths {
    int d_latent, d_rope, d_nope, d_v;
  };
  for (const Widths w :
       {Widths{256, 32, 64, 64}, {512, 0, 192, 256}, {96, 20, 48, 80}, {37, 5, 3, 1}}) {
    RankProblem shape = shape_of(2);
    shape.d_latent = w.d_latent;
    shape.d_rope = w.d_rope;
    shape.d_nope = w.d_nope;
    shape.d_v = w.d_v;
    EXPECT_EQ(run("kv_expand", problem_of(shape, {100, 1}), {}, 60), "") << w.d_latent;
  }
}

TEST(KvExpandCpu, AgreesOnEveryInstructionSetOfThisMachine) {
  const std::int64_t supported = hwy::SupportedTargets();
  for (const std::int64_t target : {HWY_SSE4, HWY_AVX2, HWY_AVX3}) {
    if ((supported & target) == 0) continue;
    const OnlyTarget only(target);
    const Problem problem = problem_of(shape_of(2), {150, 33});
    EXPECT_EQ(run("kv_expand", problem, {}, 40), "") << hwy::TargetName(target);
    EXPECT_TRUE(bound("kv_expand", problem)->config().reason.ends_with(hwy::TargetName(target)));
  }
}

TEST(KvExpandCpu, LeavesAloneWhatNoRequestUses) {
  const Problem problem = problem_of(shape_of(2), {65, 0});
  const auto kernel = bound("kv_expand", problem);
  kernel->poison().value();
  const std::int64_t last = problem.rows() - 1;
  EXPECT_TRUE(std::isnan(kernel->output_rows({&last, 1}).value().front().values[0]));
  kernel->launch(Part::split).value();
  EXPECT_FALSE(verify(*kernel, problem, 0).has_value()) << "it has no parts";
  kernel->launch(Part::all).value();
  EXPECT_TRUE(verify(*kernel, problem, 0).has_value());
}

TEST(KvExpandCpu, RefusesRowsThatDoNotExist) {
  const auto kernel = bound("kv_expand", problem_of(shape_of(2), {3}));
  const std::int64_t row = 6;
  EXPECT_EQ(kernel->output_rows({&row, 1}).error().message, "output row 6 is not in 0..5");
}

TEST(KvExpandCpu, SaysWhatItDoesNotSupport) {
  const auto reason = [](const RankProblem& shape) {
    const auto supported = check_kv_expand_shape(shape);
    return supported ? "" : supported.error().message;
  };
  EXPECT_EQ(reason(shape_of(128)), "");
  RankProblem shape = shape_of(4);
  shape.kv_dtype = KvDtype::fp8;
  EXPECT_EQ(reason(shape), "kv_expand reads bf16 caches only, not fp8");
  shape = shape_of(4);
  shape.kv_heads = 1;
  EXPECT_EQ(reason(shape), "kv_expand makes K and V of each of 4 heads, not of 1");
  EXPECT_EQ(reason(RankProblem{}),
            "kv_expand takes problems of the family kv_expand, not mla_dense");
}

}  // namespace
}  // namespace headsplit::kernels
