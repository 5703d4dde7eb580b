#include "kernels/split/split_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "kernels/mla_dense/mla_dense_cuda.h"
#include "kernels/mla_dense/planned_split.h"

namespace headsplit::kernels::dense {
namespace {

constexpr GpuLimits kH200{.sm_count = 132,
                          .shared_bytes_per_cta = 232448,
                          .shared_bytes_per_sm = 233472,
                          .compute_major = 9};
constexpr GpuLimits kA100{
    .sm_count = 108, .shared_bytes_per_cta = 166912, .shared_bytes_per_sm = 167936};
constexpr GpuLimits kRtx{
    .sm_count = 84, .shared_bytes_per_cta = 101376, .shared_bytes_per_sm = 102400};

Problem problem_of(int heads, int query_tokens, std::vector<std::int32_t> lengths) {
  const RankProblem shape{.local_heads = heads,
                          .batch = static_cast<int>(lengths.size()),
                          .query_tokens = query_tokens,
                          .context = *std::max_element(lengths.begin(), lengths.end())};
  return make_problem(shape, std::move(lengths), 1);
}

/// What is wrong with a plan, or nothing.  Every packed row of every request must meet each of its
/// tokens once, and every part must have a slot that is merged.
std::string fault(const SplitPlan& plan, const Problem& problem) {
  const int packed_rows = problem.shape.local_heads * problem.shape.query_tokens;
  std::map<std::pair<int, int>, std::vector<std::pair<int, int>>> runs;
  std::set<int> slots;
  for (const WorkItem& item : plan.items) {
    if (item.row_count > plan.tile_rows) return "more rows than a tile has";
    runs[{item.request, item.row_begin}].push_back({item.token_begin, item.token_end});
    if (item.slot >= 0 && !slots.insert(item.slot).second) return "a slot is written twice";
  }
  for (int request = 0; request < problem.shape.batch; ++request) {
    for (int row = 0; row < packed_rows; row += plan.tile_rows) {
      auto& parts = runs[{request, row}];
      if (parts.empty()) return str("request ", request, " row ", row, " is computed by nobody");
      std::sort(parts.begin(), parts.end());
      int token = 0;
      for (const auto& [begin, end] : parts) {
        if (begin != token) return str("request ", request, ": gap or overlap at ", token);
        token = end;
      }
      if (token != problem.lengths[std::size_t(request)]) return "tokens are left over";
    }
  }
  std::size_t merged = 0;
  for (const MergeItem& merge : plan.merges) {
    for (int i = 0; i < merge.slot_count; ++i) merged += slots.count(merge.slot_begin + i);
  }
  if (merged != slots.size() || int(slots.size()) != plan.slot_count) return "slots are not merged";
  if (plan.item_begin.back() != int(plan.items.size())) return "items without a CTA";
  return "";
}

std::int64_t largest_load(const SplitPlan& plan) {
  std::int64_t largest = 0;
  for (int cta = 0; cta < plan.ctas(); ++cta) {
    std::int64_t tokens = 0;
    for (int i = plan.item_begin[std::size_t(cta)]; i < plan.item_begin[std::size_t(cta) + 1];
         ++i) {
      tokens += plan.items[std::size_t(i)].token_end - plan.items[std::size_t(i)].token_begin;
    }
    largest = std::max(largest, tokens);
  }
  return largest;
}

TEST(SplitPlan, CoversEveryRowAndTokenOnceForAnyShapeAndSplit) {
  for (const int heads : {1, 16, 20, 64, 96, 128}) {
    for (const int query_tokens : {1, 2, 16}) {
      for (const int splits : {0, 1, 3, 100}) {
        for (const int ctas : {1, 7, 132}) {
          const Problem problem = problem_of(heads, query_tokens, {0, 1, 63, 64, 65, 5000, 700});
          const SplitPlan plan = plan_splits(
              problem, {.rows_max = 64, .tile_tokens = 64, .ctas = ctas, .num_splits = splits});
          ASSERT_EQ(fault(plan, problem), "")
              << heads << " heads, " << query_tokens << " query tokens, " << splits << " splits, "
              << ctas << " CTAs";
          ASSERT_LE(plan.ctas(), ctas);
        }
      }
    }
  }
}

TEST(SplitPlan, CoversManyQueryTokens) {
  const Problem problem = problem_of(128, 256, {1000, 300, 65536});
  const SplitPlan plan = plan_splits(problem, {.rows_max = 64, .tile_tokens = 32, .ctas = 132});
  EXPECT_EQ(fault(plan, problem), "");
  EXPECT_EQ(plan.row_tiles, 512);
  EXPECT_LE(plan.slot_count, 4 * 132);  // whole contexts but for the ends of the CTAs' shares
}

TEST(SplitPlan, CutsOneLongRequestOverMostCtas) {
  const Problem problem = problem_of(16, 1, {65536});
  const SplitPlan plan = plan_splits(problem, {.rows_max = 16, .ctas = 132});
  EXPECT_GE(plan.num_splits, 90);
  EXPECT_EQ(plan.ctas(), plan.num_splits);
  EXPECT_LE(largest_load(plan), 65536 / 90 + 64);
}

TEST(SplitPlan, LeavesRequestsWholeWhereTheyFillTheCtasAnyway) {
  const Problem problem = problem_of(16, 1, std::vector<std::int32_t>(128, 4096));
  const SplitPlan plan = plan_splits(problem, {.rows_max = 16, .ctas = 132});
  EXPECT_EQ(plan.num_splits, 1);
  EXPECT_EQ(plan.slot_count, 0);
  EXPECT_EQ(largest_load(plan), 4096);
}

TEST(SplitPlan, GivesEveryCtaNearlyTheSameWorkWhereRequestsAreUnequal) {
  std::vector<std::int32_t> lengths;
  std::int64_t sum = 0;
  for (int i = 0; i < 40; ++i) sum += lengths.emplace_back(100 + 37 * i * i % 9000);
  const Problem problem = problem_of(16, 1, lengths);
  const SplitPlan plan = plan_splits(problem, {.rows_max = 16, .ctas = 132});
  EXPECT_EQ(fault(plan, problem), "");
  EXPECT_LE(largest_load(plan), sum / 132 + 6 * 64);
}

TEST(SplitPlan, TakesPartsAfterWholeRequestsTheLongestFirst) {
  std::vector<std::int32_t> lengths;
  for (int i = 0; i < 60; ++i) lengths.push_back(200 + 37 * i * i % 3000);
  lengths.push_back(60000);
  const Problem problem = problem_of(128, 2, lengths);
  const SplitPlan plan = plan_splits(problem, {.rows_max = 64, .ctas = 132});
  ASSERT_GT(plan.slot_count, 0);
  ASSERT_GT(plan.items.size(), std::size_t(plan.slot_count));
  for (int cta = 0; cta < plan.ctas(); ++cta) {
    const auto first = std::size_t(plan.item_begin[std::size_t(cta)]);
    const auto end = std::size_t(plan.item_begin[std::size_t(cta) + 1]);
    for (std::size_t i = first; i + 1 < end; ++i) {
      const WorkItem& item = plan.items[i];
      const WorkItem& next = plan.items[i + 1];
      if (item.slot < 0) continue;
      EXPECT_GE(next.slot, 0) << "a partial is written before a whole request";
      EXPECT_GE(item.token_end - item.token_begin, next.token_end - next.token_begin);
    }
  }
}

TEST(SplitPlan, PutsRowTilesOfOneRequestSideBySide) {
  const Problem problem = problem_of(128, 1, std::vector<std::int32_t>(128, 4096));
  const SplitPlan plan = plan_splits(problem, {.rows_max = 64, .ctas = 132});
  EXPECT_EQ(plan.row_tiles, 2);
  EXPECT_EQ(plan.width, 2);
  const WorkItem& first = plan.items[std::size_t(plan.item_begin[0])];
  const WorkItem& second = plan.items[std::size_t(plan.item_begin[1])];
  EXPECT_EQ(first.request, second.request);
  EXPECT_EQ(first.token_begin, second.token_begin);
  EXPECT_EQ(second.row_begin - first.row_begin, 64);
}

TEST(SplitPlan, SharesRowsEvenlyInBlocksOf16) {
  const auto tile_rows = [](int heads) {
    return plan_splits(problem_of(heads, 1, {100}), {.rows_max = 64}).tile_rows;
  };
  EXPECT_EQ(tile_rows(1), 16);
  EXPECT_EQ(tile_rows(20), 32);
  EXPECT_EQ(tile_rows(64), 64);
  EXPECT_EQ(tile_rows(96), 48);
  EXPECT_EQ(tile_rows(126), 64);
}

TEST(SplitChoice, TakesTheSmallestTileThatHoldsTheRows) {
  const auto rows = [](int heads, const GpuLimits& limits) {
    return choose_kernel(RankProblem{.local_heads = heads}, limits).value().kernel.rows;
  };
  EXPECT_EQ(rows(1, kH200), 16);
  EXPECT_EQ(rows(16, kH200), 16);
  EXPECT_EQ(rows(17, kH200), 32);
  EXPECT_EQ(rows(33, kH200), 64);
  EXPECT_EQ(rows(128, kH200), 64);
  EXPECT_EQ(rows(128, kA100), 64);
  EXPECT_EQ(rows(128, kRtx), 16);
}

TEST(SplitChoice, TakesWgmmaForMoreThan32RowsOnHopperAndNowhereElse) {
  const auto name = [](int heads, GpuLimits limits) {
    return choose_kernel(RankProblem{.local_heads = heads}, limits).value().kernel.name;
  };
  GpuLimits blackwell = kH200;
  blackwell.compute_major = 10;
  EXPECT_EQ(name(32, kH200), "mma.sync");
  EXPECT_EQ(name(33, kH200), "wgmma");
  EXPECT_EQ(name(128, kH200), "wgmma");
  EXPECT_EQ(name(128, blackwell), "mma.sync");
  EXPECT_EQ(name(128, kA100), "mma.sync");
}

TEST(SplitChoice, TakesWgmmaForMoreThan16RowsOfAnFp8CacheOnHopper) {
  const auto chosen = [](int heads, GpuLimits limits) {
    const RankProblem shape{.local_heads = heads, .kv_dtype = KvDtype::fp8};
    return choose_kernel(shape, limits).value().kernel;
  };
  GpuLimits blackwell = kH200;
  blackwell.compute_major = 10;
  EXPECT_EQ(chosen(16, kH200).name, "mma.sync in f16");
  EXPECT_EQ(chosen(17, kH200).rows, 32);
  EXPECT_EQ(chosen(33, kH200).rows, 64);
  EXPECT_EQ(chosen(128, kH200).name, "wgmma in f16");
  EXPECT_EQ(chosen(128, blackwell).name, "mma.sync in f16");
}

TEST(SplitPlan, CountsWhatAnItemCostsBesidesItsSteps) {
  // 16 requests of 1024 tokens on 66 pairs of CTAs: four parts each are one item a CTA.
  const Problem problem = problem_of(128, 1, std::vector<std::int32_t>(16, 1024));
  const SplitPlan plan = plan_splits(
      problem, {.tile_tokens = 32, .ctas = 132, .cost = {.step_us = 0.8, .item_us = 2.5}});
  EXPECT_TRUE(plan.one_item_each());
  EXPECT_GT(plan.estimated_us, 0);
  const SplitPlan whole = plan_splits(
      problem,
      {.tile_tokens = 32, .ctas = 132, .num_splits = 1, .cost = {.step_us = 0.8, .item_us = 2.5}});
  EXPECT_LT(plan.estimated_us, whole.estimated_us);
}

TEST(SplitPlan, LeavesHalfOfTheCtasOutWhereStepsAreShorterWithAnSmToThemselves) {
  const Problem problem = problem_of(16, 1, std::vector<std::int32_t>(16, 2048));
  split::PlanRequest request{.rows_max = 16,
                             .ctas = 264,
                             .ctas_per_sm = 2,
                             .cost = {.step_us = 1.8, .item_us = 1, .cache_bytes_per_us = 1e9}};
  EXPECT_GT(plan_splits(problem, request).ctas(), 132);
  request.cost.alone_step_us = 0.9;
  EXPECT_EQ(plan_splits(problem, request).ctas(), 128);
}

TEST(PlannedSplit, SpreadsTheRowsOfOneShortRequestOverIdleCtas) {
  const Problem problem = problem_of(128, 1, {1024});
  const PlannedSplit split = choose_plan(problem, kH200, 0).value();
  EXPECT_LT(split.choice.kernel.rows, 64);
  EXPECT_EQ(split.plan.tile_rows, split.choice.kernel.rows);
  EXPECT_EQ(fault(split.plan, problem), "");
}

TEST(PlannedSplit, TakesTheKernelForTheRowsWhereTheWorkIsLong) {
  for (const int heads : {8, 16, 32, 64, 128}) {
    const Problem problem = problem_of(heads, 1, std::vector<std::int32_t>(64, 65536));
    EXPECT_EQ(choose_plan(problem, kH200, 0).value().choice.kernel.rows,
              choose_kernel(problem.shape, kH200).value().kernel.rows);
  }
}

TEST(PlannedSplit, AFixedNumberOfSplitsKeepsTheKernelForTheRowsInAnyBatch) {
  for (const int batch : {1, 16}) {
    const Problem problem = problem_of(128, 1, std::vector<std::int32_t>(std::size_t(batch), 1024));
    EXPECT_EQ(choose_plan(problem, kH200, 4).value().choice.kernel.rows, 64);
  }
}

/// Begin and end of the runs of tokens that row tiles of a request are cut into.
std::set<std::array<int, 4>> cuts_of(const SplitPlan& plan, int request) {
  std::set<std::array<int, 4>> cuts;
  for (const WorkItem& item : plan.items) {
    if (item.request != request) continue;
    cuts.insert({item.row_begin, item.token_begin, item.token_end, plan.tile_rows});
  }
  return cuts;
}

TEST(PlannedSplit, AFixedNumberOfSplitsCutsARequestAlikeInAnyBatch) {
  for (const int heads : {8, 16, 32, 128}) {
    for (const int splits : {1, 4, 12}) {
      const auto alone = choose_plan(problem_of(heads, 2, {5000}), kH200, splits).value();
      std::vector<std::int32_t> lengths(40, 64000);
      lengths[7] = 5000;
      const auto among = choose_plan(problem_of(heads, 2, lengths), kH200, splits).value();
      EXPECT_EQ(among.choice.kernel.name, alone.choice.kernel.name);
      EXPECT_EQ(cuts_of(among.plan, 7), cuts_of(alone.plan, 0)) << heads << " heads";
    }
  }
}

TEST(PlannedSplit, OtherGpusGetTheKernelForTheRows) {
  const Problem problem = problem_of(64, 1, {1024});
  EXPECT_EQ(choose_plan(problem, kA100, 0).value().choice.kernel.rows, 64);
}

TEST(SplitChoice, KeepsToTheSharedMemoryOfTheGpu) {
  for (const GpuLimits& limits : {kH200, kA100, kRtx}) {
    for (const auto& [d_latent, d_rope] : {std::pair{512, 64}, {512, 0}, {256, 32}}) {
      for (const int heads : {8, 24, 128}) {
        const RankProblem shape{.local_heads = heads, .d_latent = d_latent, .d_rope = d_rope};
        const Choice choice = choose_kernel(shape, limits).value();
        EXPECT_GE(choice.stages, 2);
        EXPECT_LE(choice.kernel.shared_bytes(choice.stages), limits.shared_bytes_per_cta);
        EXPECT_FALSE(choice.reason.empty());
      }
    }
  }
}

TEST(SplitChoice, TakesTheFp8KernelForAnFp8CacheFromHopperOn) {
  const RankProblem shape{.local_heads = 16, .kv_dtype = KvDtype::fp8};
  const Choice choice = choose_kernel(shape, kH200).value();
  EXPECT_EQ(choice.kernel.name, "mma.sync in f16");
  EXPECT_EQ(choose_kernel(shape, kA100).error().message,
            "mla_dense on a fp8 cache needs compute capability 9.0 or later, this GPU has 0.0");
}

TEST(SplitChoice, SaysWhyNothingFits) {
  const auto refused = choose_kernel(
      RankProblem{}, {.sm_count = 1, .shared_bytes_per_cta = 49152, .shared_bytes_per_sm = 65536});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(
      refused.error().message,
      "no tiles for d_latent 512 and d_rope 64 fit the 49152 bytes of shared memory of a CTA");
}

TEST(MlaDenseCudaSupports, RefusesWithTheReason) {
  const auto reason = [](const RankProblem& shape) {
    const auto supported = mla_dense_cuda_supports(shape);
    return supported ? "" : supported.error().message;
  };
  EXPECT_EQ(reason({}), "");
  EXPECT_EQ(reason({.local_heads = 128, .query_tokens = 256}), "");
  EXPECT_EQ(reason({.local_heads = 129}), "mla_dense takes 1 to 128 local heads, not 129");
  EXPECT_EQ(reason({.query_tokens = 257}),
            "mla_dense on CUDA takes 1 to 256 query tokens, not 257");
  EXPECT_EQ(reason({.kv_dtype = KvDtype::fp8}), "");
  EXPECT_EQ(reason({.kv_dtype = KvDtype::fp8_tensor}), "");
  EXPECT_EQ(reason({.d_latent = 256, .d_rope = 32, .kv_dtype = KvDtype::fp8}),
            "mla_dense on CUDA has d_latent + d_rope of 512 + 64 for a fp8 cache, not 256 + 32");
  EXPECT_EQ(reason({.d_latent = 384, .d_rope = 64}),
            "mla_dense on CUDA has d_latent + d_rope of 512 + 64, 512 + 0, 256 + 32 for a bf16 "
            "cache, not 384 + 64");
}

TEST(MlaDenseCudaSupports, RefusesOddPagesBeforeItAsksForAGpu) {
  const auto refused = bind_mla_dense_cuda(make_problem(RankProblem{.context = 100}, 1, 48), {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message,
            "mla_dense on CUDA takes pages of 16, 32, 64 or 128 tokens, not 48");
}

}  // namespace
}  // namespace headsplit::kernels::dense
