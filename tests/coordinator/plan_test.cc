#include "coordinator/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "coordinator/memory.h"
#include "kernels/problem.h"

namespace headsplit::coordinator {
namespace {

Plan plan_of(const std::string& text, std::optional<std::int64_t> memory_bytes = std::nullopt) {
  return make_plan(sweep_from_yaml(text, "s.yaml").value(), memory_bytes).value();
}

std::vector<std::string> labels(const Plan& plan) {
  std::vector<std::string> lines;
  for (const auto& planned : plan.points) {
    lines.push_back(str(point_label(planned.point), " #", planned.point.repeat));
  }
  return lines;
}

TEST(Plan, KeepsLayoutsOfACellTogetherAndRepeatsApart) {
  const Plan plan =
      plan_of("tp: [1, 8]\naxes: {batch: [1, 16], context: 4K}\nmeasure: {repeats: 2}");
  const std::vector<std::string> wanted = {
      "mla_dense tp1 B=1 T=1 L=4096 bf16 #0",  "mla_dense tp8 B=1 T=1 L=4096 bf16 #0",
      "mla_dense tp1 B=16 T=1 L=4096 bf16 #0", "mla_dense tp8 B=16 T=1 L=4096 bf16 #0",
      "mla_dense tp1 B=1 T=1 L=4096 bf16 #1",  "mla_dense tp8 B=1 T=1 L=4096 bf16 #1",
      "mla_dense tp1 B=16 T=1 L=4096 bf16 #1", "mla_dense tp8 B=16 T=1 L=4096 bf16 #1"};
  EXPECT_EQ(labels(plan), wanted);
}

TEST(Plan, GivesEveryPointTheProblemOfRankZero) {
  const Plan plan = plan_of("layouts: [tp8, cp8, tp4xdp2]\naxes: {batch: 16, context: 4K}");
  EXPECT_EQ(json_text(plan.points[0].problem),
            R"({"local_heads":16,"kv_heads":1,"batch":16,"query_tokens":1,"context":4096,)"
            R"("d_latent":512,"d_rope":64,"d_nope":128,"d_v":128,"kv_dtype":"bf16",)"
            R"("lengths":"equal","family":"mla_dense","top_k":0,)"
            R"("index_heads":0,"index_dim":0,"index_pool":1})");
  EXPECT_EQ(plan.points[1].problem.local_heads, 128);
  EXPECT_EQ(plan.points[1].problem.context, 512);
  EXPECT_EQ(plan.points[2].problem.local_heads, 32);
  EXPECT_EQ(plan.points[2].problem.batch, 8);
}

TEST(Plan, LeavesOutWhatIsExcluded) {
  const Plan plan = plan_of(
      "layouts: [tp1, tp8, cp8]\naxes: {batch: [1, 16], context: [1K, 4K]}\n"
      "exclude: [{batch: 16, context: 4K}, {cp: 8, context: 1K}]");
  EXPECT_EQ(plan.points.size(), 3u * 4u - 3u - 2u);
  for (const auto& planned : plan.points) {
    EXPECT_FALSE(planned.point.batch == 16 && planned.point.context == 4096);
    EXPECT_FALSE(planned.point.layout.cp == 8 && planned.point.context == 1024);
  }
}

TEST(Plan, SkipsWhatDoesNotFitAndSaysTheBytes) {
  const Plan plan = plan_of("tp: 8\naxes: {batch: [1, 64], context: 64K}", 1'000'000'000);
  EXPECT_EQ(plan.points[0].state, PlannedState::pending);
  EXPECT_EQ(plan.points[1].state, PlannedState::skipped);
  EXPECT_EQ(plan.points[1].reason,
            str("needs ", plan.points[1].memory_bytes,
                " bytes (4.92 GB) a rank; 1000000000 bytes (1 GB) are available"));
}

TEST(Plan, SkipsWhatLeavesARankNothingToDo) {
  const Plan plan = plan_of("layouts: [tp8, dp8]\naxes: {batch: 1}");
  EXPECT_EQ(plan.points[0].state, PlannedState::pending);
  EXPECT_EQ(plan.points[1].state, PlannedState::skipped);
  EXPECT_NE(plan.points[1].reason.find("dp 8"), std::string::npos) << plan.points[1].reason;
}

TEST(Plan, HasOneIdForOneMeaning) {
  const Plan plan = plan_of("name: a\ntp: [1, 2]\naxes: {context: [4K], batch: 1}");
  EXPECT_EQ(plan_of("# said otherwise\nname: 'a'\nlayouts:\n- {tp: 1}\n- tp2\n").id, plan.id);
  EXPECT_EQ(make_plan(sweep_from_yaml(plan.content, "db").value(), 1).value().id, plan.id);
  EXPECT_NE(plan_of("name: a\ntp: [1, 4]\n").id, plan.id);
  EXPECT_NE(plan_of("name: a\ntp: [1, 2]\nseed: 2\n").id, plan.id);
}

TEST(Plan, GivesEveryPointItsOwnId) {
  const Plan plan = plan_of("tp: [1, 2]\naxes: {l2: [cold, warm]}\nmeasure: {repeats: 5}");
  std::set<std::string> ids;
  for (const auto& planned : plan.points) ids.insert(planned.id);
  EXPECT_EQ(ids.size(), 20u);
}

TEST(Plan, PutsRealRanksBesideEmulatedOnes) {
  const auto plan =
      make_plan(sweep_from_yaml("name: a\nranks: [emulated, real]\ntp: [1, 2]", "s.yaml").value(),
                {})
          .value();
  ASSERT_EQ(plan.points.size(), 4u);
  EXPECT_EQ(plan.points[2].point.ranks, Ranks::emulated);
  EXPECT_EQ(plan.points[3].point.ranks, Ranks::real);
  EXPECT_EQ(plan.points[2].point.layout, plan.points[3].point.layout);
  EXPECT_NE(plan.points[2].id, plan.points[3].id);
  EXPECT_EQ(plan.hidden, 7168);
}

TEST(Plan, RefusesToBeEmpty) {
  const auto plan = make_plan(sweep_from_yaml("name: a\nexclude: {tp: 1}", "s.yaml").value(), {});
  EXPECT_EQ(plan.error().message, "a: exclude: leaves no point of the sweep");
}

TEST(Plan, ExpandsAHundredThousandPoints) {
  std::string batches;
  for (int i = 1; i <= 100; ++i) batches += str(i == 1 ? "" : ", ", i);
  const Plan plan = plan_of("tp: [1, 2, 4, 8, 16]\naxes: {batch: [" + batches +
                            "], query_tokens: [1, 2], context: [1K, 4K, 16K, 64K, 128K]}\n"
                            "measure: {repeats: 20}");
  EXPECT_EQ(plan.points.size(), 100'000u);
  EXPECT_EQ(plan.points.back().point.repeat, 19);
}

Plan plan_of_file(const std::string& name) {
  const char* root = std::getenv("HEADSPLIT_SOURCE");
  const std::string path = str(root == nullptr ? "." : root, "/configs/sweeps/", name);
  return make_plan(read_sweep(path).value(), std::nullopt).value();
}

TEST(SweepFiles, QuickStaysQuick) {
  const Plan plan = plan_of_file("quick.yaml");
  double flops = 0;
  for (const auto& planned : plan.points) {
    const RankProblem& problem = planned.problem;
    flops += 2.0 * problem.batch * problem.query_tokens * problem.local_heads *
             static_cast<double>(problem.context) * (problem.d_qk() + problem.d_latent);
    EXPECT_EQ(planned.state, PlannedState::pending);
    EXPECT_LT(planned.memory_bytes, 500'000'000);
  }
  EXPECT_LE(plan.points.size(), 32u);
  EXPECT_LT(flops, 1e11) << "of one launch of every point: 2 s at 50 GFLOP/s";
}

TEST(SweepFiles, TpErosionPlansEveryPointWithAProblem) {
  const Plan plan = plan_of_file("tp-erosion.yaml");
  EXPECT_EQ(plan.points.size(), 3u * (7u * 8u - 4u) * 3u * 4u);
  for (const auto& planned : plan.points) {
    EXPECT_EQ(planned.state, PlannedState::pending) << planned.reason;
    EXPECT_EQ(planned.problem.local_heads, 128 / planned.point.layout.tp);
  }
}

TEST(SweepFiles, AttentionTablePlansAllStructuresOnEveryHeadSplit) {
  const Plan plan = plan_of_file("attention-table.yaml");
  EXPECT_EQ(plan.points.size(), 2u * 4u * 4u * 2u * 2u);
  for (const auto& planned : plan.points) {
    EXPECT_EQ(planned.state, PlannedState::pending) << planned.reason;
    EXPECT_LT(planned.memory_bytes, 100'000'000'000) << "of the 141 GB of an H200";
  }
  for (const char* name : {"attention-qwen2.5-7b.yaml", "attention-mixtral-8x7b.yaml",
                           "attention-falcon-7b.yaml", "attention-table-cpu.yaml"}) {
    for (const auto& planned : plan_of_file(name).points) {
      EXPECT_EQ(planned.state, PlannedState::pending) << name << ": " << planned.reason;
    }
  }
}

TEST(SweepFiles, CrossoverPlansEveryFormAndTheExpansionOnce) {
  const Plan plan = plan_of_file("crossover.yaml");
  const std::size_t shapes = 5 * (4 + 2);
  EXPECT_EQ(plan.points.size(), shapes * (9 + 9 + 1));
  for (const auto& planned : plan.points) {
    EXPECT_EQ(planned.state, PlannedState::pending) << planned.reason;
    EXPECT_LT(planned.memory_bytes, 130'000'000'000) << point_label(planned.point);
  }
}

TEST(SweepFiles, CrossoverOnTheCpuStaysSmall) {
  const Plan plan = plan_of_file("crossover-cpu.yaml");
  EXPECT_EQ(plan.points.size(), 2u * (4 + 4 + 1));
  for (const auto& planned : plan.points) EXPECT_LT(planned.memory_bytes, 200'000'000);
}

TEST(SweepFiles, SparsePlansBothCachesAlongTheContext) {
  const Plan plan = plan_of_file("sparse.yaml");
  EXPECT_EQ(plan.points.size(), 4u * 3 * 3 * 4 * 2);
  for (const auto& planned : plan.points) {
    EXPECT_EQ(planned.state, PlannedState::pending) << planned.reason;
    EXPECT_EQ(planned.problem.top_k, 2048);
    EXPECT_LT(planned.memory_bytes, 130'000'000'000) << point_label(planned.point);
  }
  const Plan small = plan_of_file("sparse-cpu.yaml");
  EXPECT_EQ(small.points.size(), 2u * 2 * 2 * 2);
  for (const auto& planned : small.points) EXPECT_LT(planned.memory_bytes, 200'000'000);
}

TEST(Plan, SkipsATopKOfADenseKernelBesideASparseOne) {
  const Plan plan =
      plan_of("model: deepseek-v3.2\nkernels: [mla_sparse, mla_dense]\naxes: {top_k: [0, 512]}");
  ASSERT_EQ(plan.points.size(), 4u);
  EXPECT_EQ(plan.points[0].problem.top_k, 2048) << "the model's";
  EXPECT_EQ(plan.points[1].problem.top_k, 512);
  EXPECT_EQ(plan.points[2].state, PlannedState::pending);
  EXPECT_EQ(plan.points[3].state, PlannedState::skipped);
  EXPECT_EQ(plan.points[3].reason.find("top_k 512: kernel mla_dense attends to all tokens"), 0u);
}

TEST(Plan, CarriesFixedSplitsInThePointAndInItsMemory) {
  const Plan plan = plan_of("axes: {batch: 8, fixed_splits: [0, 64]}");
  ASSERT_EQ(plan.points.size(), 2u);
  EXPECT_EQ(plan.points[1].point.fixed_splits, 64);
  EXPECT_NE(plan.points[0].id, plan.points[1].id);
  EXPECT_EQ(plan.points[1].memory_bytes - plan.points[0].memory_bytes, 8ll * 128 * 64 * 4 * 513);
}

TEST(Memory, IsWhatTheKernelsAllocate) {
  for (const KvDtype kv_dtype : {KvDtype::bf16, KvDtype::fp8}) {
    for (const int batch : {1, 7, 128}) {
      for (const std::int64_t context : {1, 64, 4097, 65536}) {
        const RankProblem problem{.local_heads = 16,
                                  .batch = batch,
                                  .query_tokens = 2,
                                  .context = context,
                                  .kv_dtype = kv_dtype};
        EXPECT_EQ(rank_memory_bytes(problem),
                  static_cast<std::int64_t>(kernels::memory_bytes(problem)));
      }
    }
  }
}

TEST(Memory, IsShownInDecimalUnits) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(999'999), "1 MB");
  EXPECT_EQ(bytes_text(12'345'000'000), "12.3 GB");
}

}  // namespace
}  // namespace headsplit::coordinator
