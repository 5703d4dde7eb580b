#include "tp/crossover.h"

#include <gtest/gtest.h>

#include "tp/break_even.h"
#include "tp/retrained.h"

namespace headsplit::tp {
namespace {

// S* = L A / (A + L (a - e)), A = 512 x 256 = 131072, a - e = 768 (section 5.6, appendix A.3).
TEST(Golden, SwitchPointRisesFrom128TowardsOneHundredSeventyOne) {
  const Model v3 = read_model("deepseek-v3").value();
  EXPECT_NEAR(*flops_switch_query_tokens(v3, 512), 128, 0.5);
  EXPECT_NEAR(*flops_switch_query_tokens(v3, 32768), 170, 0.5);
  EXPECT_NEAR(*flops_switch_query_tokens(v3, 131072), 170, 0.5);
  EXPECT_NEAR(*flops_switch_limit(v3), 171, 0.5);
}

TEST(Golden, SwitchPointDoesNotDependOnHeadsOrTheRopeSegment) {
  const Model v3 = read_model("deepseek-v3").value();
  Model other = v3;
  other.heads = 96;
  other.d_rope = 0;
  for (const std::int64_t context : {512, 4096, 131072}) {
    EXPECT_EQ(flops_switch_query_tokens(v3, context), flops_switch_query_tokens(other, context));
  }
}

// "The crossing at S = 1 is at L of about 1.006" (section 5.4): with A = 131072 and no RoPE,
// A + L 1024 = L A + L 256  =>  L = A / (A - 768).
TEST(Golden, ExpandingWinsInDecodeOnlyWithOneCachedToken) {
  const Model v3 = read_model("deepseek-v3").value();
  EXPECT_LT(*flops_switch_query_tokens(v3, 1), 1);
  EXPECT_GT(*flops_switch_query_tokens(v3, 2), 1);
}

// B L = W_sharded x bytes a weight / bytes a cached token (research, section 2.2).
TEST(Golden, BreakEvenOfDataAgainstHeadParallelism) {
  const auto tokens = [](const char* name) {
    return dp_break_even_tokens(read_model(name).value(), WeightDtype::fp8, KvDtype::bf16);
  };
  EXPECT_NEAR(tokens("deepseek-v3"), 149e3, 500);
  EXPECT_NEAR(tokens("kimi-k2"), 75e3, 500);
  EXPECT_NEAR(tokens("kimi-k3"), 112e3, 500);
  EXPECT_NEAR(
      dp_break_even_tokens(read_model("deepseek-v3").value(), WeightDtype::bf16, KvDtype::bf16),
      298e3, 1000);
}

// The same with whole heads compute-bound at 600 TFLOP/s and 4.3 TB/s: about 167k.
TEST(Golden, BreakEvenMovesUpWhereWholeHeadsAreComputeBound) {
  const Model v3 = read_model("deepseek-v3").value();
  const Rates effective{.bf16_flop_per_us = 600e6, .byte_per_us = 4.3e6};
  const auto tokens = dp_break_even_tokens(v3, WeightDtype::fp8, KvDtype::bf16, 8, 1, effective);
  ASSERT_TRUE(tokens);
  EXPECT_NEAR(*tokens, 167e3, 500);
  const Rates memory_bound{.bf16_flop_per_us = 1e12, .byte_per_us = 4.3e6};
  for (const int ranks : {2, 8, 64}) {
    EXPECT_NEAR(*dp_break_even_tokens(v3, WeightDtype::fp8, KvDtype::bf16, ranks, 1, memory_bound),
                149e3, 500);
  }
  EXPECT_FALSE(dp_break_even_tokens(v3, WeightDtype::fp8, KvDtype::bf16, 2, 64, effective));
}

TEST(Crossover, FindsWhereExpandedKAndVOvertakeOnADevice) {
  const Model v3 = read_model("deepseek-v3").value();
  const Device h200 = with_ceilings(read_device("h200").value(), {.bf16_tflops = 785});
  const Crossover answer = crossover(v3, 4096, h200, {1, 8}).value();
  ASSERT_EQ(answer.switch_points.size(), 2u);
  // Compute against memory: 2 S 1088 / 785 TFLOP/s = 640 / 4.8 TB/s  =>  S = 48.
  EXPECT_EQ(answer.switch_points[0].expanded_resident_from_query_tokens, 49);
  // Both sides compute-bound: near S* = 167 of the FLOPs.
  EXPECT_NEAR(static_cast<double>(*answer.switch_points[0].expanded_each_step_from_query_tokens),
              *answer.flops_switch_query_tokens, 30);
  EXPECT_TRUE(answer.switch_points[0].mixed_from_query_tokens);
}

TEST(Crossover, NamesTheRegimesOfTheSeeds) {
  EXPECT_EQ(regime_of(1), Regime::decode);
  EXPECT_EQ(regime_of(2), Regime::speculative);
  EXPECT_EQ(regime_of(32), Regime::speculative);
  EXPECT_EQ(regime_of(64), Regime::between);
  EXPECT_EQ(regime_of(129), Regime::prefill);
  const Model v3 = read_model("deepseek-v3").value();
  const auto answer = crossover(v3, 4096, read_device("rtx5090").value(), {1}).value();
  EXPECT_EQ(answer.regimes.front().fastest, "mla_dense");
  EXPECT_EQ(answer.regimes.back().query_tokens, 4096);
  EXPECT_EQ(answer.regimes.back().fastest, "mla_expanded");
}

TEST(Crossover, WorksWithoutADeviceAndRefusesAModelWithoutALatent) {
  const auto answer = crossover(read_model("kimi-k3").value(), 8192, std::nullopt, {}).value();
  EXPECT_TRUE(answer.regimes.empty());
  EXPECT_FALSE(crossover(read_model("falcon-7b").value(), 8192, std::nullopt, {}));
}

TEST(Crossover, TellsFromWhichContextSparseAttentionPays) {
  const auto answer =
      crossover(read_model("deepseek-v3.2").value(), 8192, read_device("h200").value(), {1});
  ASSERT_TRUE(answer.value().sparse_from_context);
  EXPECT_GT(*answer.value().sparse_from_context, 2048);
}

// Published H200 tables: CP8 with collectives overtakes TP8 from batch 64 at 8K, 16 at 16K, 8 at
// 32K, 4 at 64K, 1 at 128K (research, table D); a model by latency and bandwidth is within 4x.
TEST(CpBreakEven, HalvesWithEveryDoublingOfTheContext) {
  const Model v3 = read_model("deepseek-v3").value();
  const Device h200 = read_device("h200").value();
  const CollectiveModel collectives = read_collective_model().value();
  const std::pair<std::int64_t, int> published[] = {
      {8192, 64}, {16384, 16}, {32768, 8}, {65536, 4}, {131072, 1}};
  int previous = 1 << 20;
  for (const auto& [context, batch] : published) {
    const auto found = cp_break_even_batch(v3, {.context = context}, 8, h200, collectives,
                                           QueryProjection::gathered);
    ASSERT_TRUE(found) << context;
    EXPECT_LE(*found, 4 * batch) << context;
    EXPECT_GE(4 * *found, batch) << context;
    EXPECT_LE(*found, previous);
    previous = *found;
    const auto replicated = cp_break_even_batch(v3, {.context = context}, 8, h200, collectives,
                                                QueryProjection::replicated);
    EXPECT_LE(*replicated, *found) << "no gather is never worse";
  }
}

// Layout table of the research: rows of 640 and 384 bytes, AI 1.8 H', 1.8 H / 2 and 1.667 H.
TEST(LatentSchemes, HaveTheFiguresOfTheirPapers) {
  const Model v3 = read_model("deepseek-v3").value();
  const auto rows = latent_schemes(v3, {}, {1, 2, 4});
  const auto find = [&](const std::string& scheme, int ranks) {
    for (const auto& row : rows) {
      if (row.scheme == scheme && row.ranks == ranks) return row;
    }
    ADD_FAILURE() << scheme << " at " << ranks;
    return LatentScheme{};
  };
  EXPECT_NEAR(find("MLA", 2).intensity_flop_per_byte, 120.9, 0.05);
  EXPECT_EQ(find("TPLA-2", 2).bytes_per_token, 640);
  EXPECT_NEAR(find("TPLA-2", 2).intensity_flop_per_byte, 1.8 * 128, 1e-9);
  EXPECT_EQ(find("TPLA-2", 2).exactness, Exactness::approximate);
  EXPECT_NEAR(find("GLA-2", 2).intensity_flop_per_byte, 1.8 * 64, 1e-9);
  EXPECT_EQ(find("MLRA-4", 4).bytes_per_token, 384);
  EXPECT_NEAR(find("MLRA-4", 4).intensity_flop_per_byte, 128 * 5.0 / 3, 1e-9);
  EXPECT_EQ(find("MLRA-4", 4).exactness, Exactness::retrained);
  for (const auto& row : rows) EXPECT_FALSE(row.scheme == "MLRA-4" && row.ranks == 2);
}

}  // namespace
}  // namespace headsplit::tp
