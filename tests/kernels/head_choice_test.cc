#include "kernels/per_head/head_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "kernels/per_head/per_head_cuda.h"

namespace headsplit::kernels::per_head {
namespace {

constexpr split::GpuLimits kH200{.sm_count = 132,
                                 .shared_bytes_per_cta = 232448,
                                 .shared_bytes_per_sm = 233472,
                                 .compute_major = 9};
constexpr split::GpuLimits kA100{.sm_count = 108,
                                 .shared_bytes_per_cta = 166912,
                                 .shared_bytes_per_sm = 167936,
                                 .compute_major = 8};
constexpr split::GpuLimits kRtx{.sm_count = 84,
                                .shared_bytes_per_cta = 101376,
                                .shared_bytes_per_sm = 102400,
                                .compute_major = 8,
                                .compute_minor = 6};

RankProblem shape_of(int heads, int kv_heads, int query_tokens, int d_k, int d_v) {
  return RankProblem{.local_heads = heads,
                     .kv_heads = kv_heads,
                     .query_tokens = query_tokens,
                     .d_rope = 0,
                     .d_nope = d_k,
                     .d_v = d_v,
                     .family = Family::per_head};
}

Problem problem_of(RankProblem shape, std::vector<std::int32_t> lengths) {
  shape.batch = static_cast<int>(lengths.size());
  shape.context = *std::max_element(lengths.begin(), lengths.end());
  return make_problem(shape, std::move(lengths), 1);
}

/// What is wrong with a plan, or nothing.  Every packed row of every KV head must meet each token
/// that it attends to once, and no item may go past what its rows attend to.
std::string fault(const split::SplitPlan& plan, const Problem& problem) {
  const int rows = packed_rows(problem.shape);
  const int group = problem.shape.local_heads / problem.shape.kv_heads;
  std::map<std::pair<int, int>, std::vector<std::pair<int, int>>> runs;
  std::set<int> slots;
  for (const split::WorkItem& item : plan.items) {
    if (item.row_count > plan.tile_rows) return "more rows than a tile has";
    runs[{item.request, item.row_begin}].push_back({item.token_begin, item.token_end});
    if (item.slot >= 0 && !slots.insert(item.slot).second) return "a slot is written twice";
  }
  for (int sequence = 0; sequence < problem.shape.batch * problem.shape.kv_heads; ++sequence) {
    for (int row = 0; row < rows; row += plan.tile_rows) {
      auto& parts = runs[{sequence, row}];
      if (parts.empty()) return str("sequence ", sequence, " row ", row, ": computed by nobody");
      std::sort(parts.begin(), parts.end());
      int token = 0;
      for (const auto& [begin, end] : parts) {
        if (begin != token) return str("sequence ", sequence, ": gap or overlap at ", token);
        token = end;
      }
      const int last_row = std::min(rows, row + plan.tile_rows) - 1;
      const int wanted = problem.attended(sequence / problem.shape.kv_heads, last_row / group);
      if (token != wanted) return str(token, " tokens instead of ", wanted);
    }
  }
  return static_cast<int>(slots.size()) == plan.slot_count ? "" : "slots are left over";
}

TEST(HeadChoice, PlansCoverEveryRowAndTokenOnce) {
  for (const auto& [heads, kv_heads] : {std::pair{8, 8}, {28, 4}, {71, 1}, {32, 8}, {5, 5}}) {
    for (const int query_tokens : {1, 2, 7, 200}) {
      for (const int splits : {0, 1, 3}) {
        for (const auto& limits : {kH200, kA100}) {
          const Problem problem =
              problem_of(shape_of(heads, kv_heads, query_tokens, 128, 128), {0, 1, 64, 5000, 700});
          const PlannedSplit planned = choose_plan(problem, limits, splits).value();
          ASSERT_EQ(fault(planned.plan, problem), "")
              << heads << "/" << kv_heads << " heads, " << query_tokens << " query tokens, "
              << splits << " splits: " << planned.choice.reason;
        }
      }
    }
  }
}

TEST(HeadChoice, GivesWgmmaManyRowsOnHopperOnlyAndOfItsOwnWidths) {
  const auto name = [](const RankProblem& shape, const split::GpuLimits& limits) {
    return choose_plan(problem_of(shape, {4096}), limits, 0).value().choice.kernel.name;
  };
  EXPECT_EQ(name(shape_of(128, 128, 64, 192, 128), kH200), "wgmma");
  EXPECT_EQ(name(shape_of(128, 128, 64, 192, 128), kA100), "mma.sync");
  EXPECT_EQ(name(shape_of(128, 128, 64, 176, 128), kH200), "mma.sync");
  EXPECT_EQ(name(shape_of(28, 4, 1, 128, 128), kH200), "mma.sync");
}

TEST(HeadChoice, TakesTheNarrowestInstantiation) {
  const auto widths = [](int d_k, int d_v) {
    const Choice choice =
        runnable_kernels(problem_of(shape_of(8, 8, 1, d_k, d_v), {100}), kH200).front();
    return std::pair{choice.kernel.d_k_max, choice.kernel.d_v_max};
  };
  EXPECT_EQ(widths(64, 64), std::pair(64, 64));
  EXPECT_EQ(widths(80, 80), std::pair(128, 128));
  EXPECT_EQ(widths(192, 128), std::pair(192, 128));
  EXPECT_EQ(widths(128, 144), std::pair(256, 256));
}

TEST(HeadChoice, HasFewerCtasAnSmWhereSharedMemoryIsSmall) {
  const auto choice = [](int width, const split::GpuLimits& limits) {
    return runnable_kernels(problem_of(shape_of(8, 8, 1, width, width), {100}), limits).front();
  };
  EXPECT_EQ(choice(128, kH200).kernel.ctas_per_sm, 2);
  EXPECT_EQ(choice(128, kH200).stages, 3);
  EXPECT_EQ(choice(128, kA100).stages, 2);
  EXPECT_EQ(choice(128, kRtx).kernel.ctas_per_sm, 1);
  EXPECT_EQ(choice(256, kA100).stages, 2);
}

TEST(HeadChoice, SaysWhatFitsNoGpuOfThatKind) {
  const auto refused = choose_plan(problem_of(shape_of(8, 8, 1, 256, 256), {100}), kRtx, 0);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message,
            "no kernel for keys of 256 and values of 256 fits the 101376 bytes of shared memory of "
            "a CTA");
}

TEST(HeadChoice, SharesUnequalRequestsEqually) {
  std::vector<std::int32_t> lengths;
  std::int64_t sum = 0;
  for (int i = 0; i < 40; ++i) sum += lengths.emplace_back(100 + 37 * i * i % 9000);
  const Problem problem = problem_of(shape_of(28, 4, 1, 128, 128), lengths);
  const PlannedSplit planned = choose_plan(problem, kH200, 0).value();
  std::int64_t largest = 0;
  for (int cta = 0; cta < planned.plan.ctas(); ++cta) {
    std::int64_t tokens = 0;
    const auto begin = static_cast<std::size_t>(planned.plan.item_begin[std::size_t(cta)]);
    const auto end = static_cast<std::size_t>(planned.plan.item_begin[std::size_t(cta) + 1]);
    for (std::size_t i = begin; i < end; ++i) {
      tokens += planned.plan.items[i].token_end - planned.plan.items[i].token_begin;
    }
    largest = std::max(largest, tokens);
  }
  EXPECT_LE(largest, 4 * sum / 264 + 6 * 64);
}

TEST(HeadChoice, RefusesWhatItCannotRun) {
  const auto reason = [](const RankProblem& shape) {
    const auto supported = per_head_cuda_supports(shape);
    return supported ? "" : supported.error().message;
  };
  EXPECT_EQ(reason(shape_of(28, 4, 1, 128, 128)), "");
  EXPECT_EQ(reason(shape_of(28, 4, 1, 72, 128)),
            "per-head attention on CUDA: d_nope + d_rope 72: takes multiples of 16 from 64 to 256");
  EXPECT_NE(reason(shape_of(28, 3, 1, 128, 128)), "");
  RankProblem eight_bits = shape_of(28, 4, 1, 128, 128);
  eight_bits.kv_dtype = KvDtype::fp8;
  EXPECT_EQ(reason(eight_bits), "per-head attention on CUDA reads bf16 caches only, not fp8");
  EXPECT_NE(reason(RankProblem{}), "");
}

}  // namespace
}  // namespace headsplit::kernels::per_head
