#include "tp/shard.h"

#include <gtest/gtest.h>

#include <numeric>

namespace headsplit::tp {
namespace {

const Model kV3{.name = "v3",
                .heads = 128,
                .layers = 61,
                .hidden = 7168,
                .q_lora_rank = 1536,
                .d_latent = 512,
                .d_rope = 64,
                .d_nope = 128,
                .d_v = 128};
const Model kQwen{.name = "qwen",
                  .attention = Attention::gqa,
                  .heads = 28,
                  .kv_heads = 4,
                  .layers = 28,
                  .hidden = 3584,
                  .d_nope = 128,
                  .d_v = 128};

TEST(RankProblem, SplitsHeadsOverTpAndLeavesTheContextWhole) {
  const RankProblem problem =
      rank_problem(kV3, {.layout = {.tp = 8}, .batch = 64, .context = 8192}).value();
  EXPECT_EQ(problem.local_heads, 16);
  EXPECT_EQ(problem.batch, 64);
  EXPECT_EQ(problem.context, 8192);
  EXPECT_EQ(problem.d_qk(), 576);
}

TEST(RankProblem, SplitsRequestsOverDpAndTokensOverCp) {
  const Point point{.layout = {.tp = 2, .dp = 2, .cp = 2}, .batch = 64, .context = 8192};
  const RankProblem problem = rank_problem(kV3, point).value();
  EXPECT_EQ(problem.local_heads, 64);
  EXPECT_EQ(problem.batch, 32);
  EXPECT_EQ(problem.context, 4096);
}

TEST(RankProblem, SumsToTheWholeOverAllRanksWithRankZeroLargest) {
  const Point point{.layout = {.tp = 2, .dp = 3, .cp = 5}, .batch = 7, .context = 1001};
  double tokens = 0;
  const RankProblem first = rank_problem(kV3, point).value();
  for (int rank = 0; rank < point.layout.ranks(); ++rank) {
    const RankProblem problem = rank_problem(kV3, point, rank).value();
    EXPECT_LE(problem.batch, first.batch);
    EXPECT_LE(problem.context, first.context);
    tokens += static_cast<double>(problem.batch) * static_cast<double>(problem.context) *
              problem.local_heads;
  }
  EXPECT_EQ(tokens, 7.0 * 1001.0 * 128.0);
}

TEST(RankProblem, ListsTheLegalSizesWhenHeadsDoNotDivide) {
  const auto problem = rank_problem(kV3, {.layout = {.tp = 3}});
  ASSERT_FALSE(problem);
  EXPECT_EQ(problem.error().message,
            "tp 3 does not divide the 128 heads of v3; legal: 1, 2, 4, 8, 16, 32, 64, 128");
}

TEST(RankProblem, RefusesSharesThatWouldBeEmpty) {
  EXPECT_FALSE(rank_problem(kV3, {.layout = {.dp = 8}, .batch = 4}));
  EXPECT_FALSE(rank_problem(kV3, {.layout = {.cp = 8}, .context = 4}));
  EXPECT_FALSE(rank_problem(kV3, {.batch = 0}));
  EXPECT_FALSE(rank_problem(kV3, {.query_tokens = 4, .context = 2}));
  EXPECT_FALSE(rank_problem(kV3, {.layout = {.tp = 2}}, 2));
}

TEST(RankProblem, RefusesALatentKernelForAModelWithoutALatent) {
  const auto problem = rank_problem(kQwen, {.kernel = "mla_dense"});
  ASSERT_FALSE(problem);
  EXPECT_NE(problem.error().message.find("legal: mha_decode, gqa_decode, mqa_decode"),
            std::string::npos);
}

TEST(RankProblem, RepeatsAKvHeadOnTheRanksThatShareIt) {
  const Point point{.kernel = "gqa_decode", .layout = {.tp = 28}};
  const RankProblem problem = rank_problem(kQwen, point).value();
  EXPECT_EQ(problem.local_heads, 1);
  EXPECT_EQ(problem.kv_heads, 1);
  EXPECT_EQ(rank_problem(kQwen, {.kernel = "gqa_decode", .layout = {.tp = 2}}).value().kv_heads, 2);
}

TEST(KernelKvHeads, AreTheBaselinesOfTheIntensityTable) {
  EXPECT_EQ(kernel_kv_heads(kV3, "mla_dense"), 1);
  EXPECT_EQ(kernel_kv_heads(kV3, "mha_decode"), 128);
  EXPECT_EQ(kernel_kv_heads(kV3, "gqa_decode"), 8);
  EXPECT_EQ(kernel_kv_heads(kV3, "mqa_decode"), 1);
  EXPECT_EQ(kernel_kv_heads(kQwen, "gqa_decode"), 4);
}

TEST(RankProblem, HasTheFamilyOfItsKernel) {
  const auto problem_of = [](const Model& model, const std::string& kernel) {
    return rank_problem(model, {.kernel = kernel, .layout = {.tp = 4}}).value();
  };
  EXPECT_EQ(problem_of(kV3, "mla_dense").family, Family::mla_dense);
  EXPECT_EQ(problem_of(kV3, "plugin:naive_mla").family, Family::mla_dense);
  for (const auto* kernel : {"mha_decode", "gqa_decode", "mqa_decode", "mla_expanded"}) {
    EXPECT_EQ(problem_of(kV3, kernel).family, Family::per_head) << kernel;
  }
  EXPECT_EQ(problem_of(kV3, "kv_expand").family, Family::kv_expand);
  EXPECT_EQ(problem_of(kV3, "mla_expanded").kv_heads, 32) << "each head has its own K and V";
  EXPECT_EQ(problem_of(kV3, "kv_expand").kv_heads, 32);
}

TEST(RankProblem, SharesTheListOfASparseKernelAndRepeatsItsIndexer) {
  const Model v32 = read_model("deepseek-v3.2").value();
  Point point{.kernel = "mla_sparse", .layout = {.tp = 4, .cp = 2}, .batch = 8};
  RankProblem problem = rank_problem(v32, point).value();
  EXPECT_EQ(problem.family, Family::mla_sparse);
  EXPECT_EQ(problem.local_heads, 32);
  EXPECT_EQ(problem.top_k, 1024) << "half of the model's 2,048 on each context-parallel rank";
  EXPECT_EQ(problem.output_width(), 512);
  point.top_k = 512;
  EXPECT_EQ(rank_problem(v32, point).value().top_k, 256);
  point.kernel = "dsa_indexer";
  problem = rank_problem(v32, point).value();
  EXPECT_EQ(problem.local_heads, 64) << "index heads, which tp does not share out";
  EXPECT_EQ(problem.index_heads, 64);
  EXPECT_EQ(problem.query_width(), 128);
  EXPECT_EQ(problem.output_width(), 256);
  point.kernel = "mla_dense";
  EXPECT_EQ(rank_problem(v32, point).error().message,
            "top_k 512: kernel mla_dense attends to all tokens; legal: 0, or mla_sparse, "
            "dsa_indexer");
  point.top_k = 0;
  EXPECT_EQ(rank_problem(v32, point).value().top_k, 0);
}

TEST(RankProblem, KnowsTheWidthsOfItsQueryAndOutput) {
  RankProblem problem{.d_latent = 512, .d_rope = 64, .d_nope = 128, .d_v = 96};
  EXPECT_EQ(problem.query_width(), 576);
  EXPECT_EQ(problem.output_width(), 512);
  problem.family = Family::per_head;
  EXPECT_EQ(problem.query_width(), 192);
  EXPECT_EQ(problem.output_width(), 96);
  problem.family = Family::kv_expand;
  EXPECT_EQ(problem.query_width(), 576);
  EXPECT_EQ(problem.output_width(), 192 + 96);
}

TEST(Share, GivesTheRemainderToTheFirstRanks) {
  EXPECT_EQ(share(10, 4, 0), 3);
  EXPECT_EQ(share(10, 4, 1), 3);
  EXPECT_EQ(share(10, 4, 2), 2);
  EXPECT_EQ(share(10, 4, 3), 2);
  EXPECT_EQ(share_begin(10, 4, 2), 6);
  EXPECT_EQ(share_begin(10, 4, 4), 10);
  EXPECT_DOUBLE_EQ(share_imbalance(10, 4), 3 / 2.5);
}

TEST(LengthImbalance, IsTheLargestSumOverTheMean) {
  // 15 requests of 1024 and one of 65536 over two ranks: 8192 against 72704 tokens.
  std::vector<std::int64_t> lengths(15, 1024);
  lengths.push_back(65536);
  EXPECT_EQ(length_sums(lengths, 2), (std::vector<std::int64_t>{8192, 72704}));
  EXPECT_DOUBLE_EQ(length_imbalance(lengths, 2), 72704.0 / 40448.0);
  EXPECT_DOUBLE_EQ(length_imbalance({0, 0}, 2), 1);
}

TEST(RankPlace, NumbersHeadGroupsAsNeighbours) {
  const Layout layout{.tp = 2, .dp = 2, .cp = 2};
  EXPECT_EQ(rank_place(layout, 0), (RankPlace{0, 0, 0}));
  EXPECT_EQ(rank_place(layout, 1), (RankPlace{1, 0, 0}));
  EXPECT_EQ(rank_place(layout, 2), (RankPlace{0, 0, 1}));
  EXPECT_EQ(rank_place(layout, 4), (RankPlace{0, 1, 0}));
}

}  // namespace
}  // namespace headsplit::tp
