// The figures of the three seeds, each with the formula that gives it.  A golden value is written
// as the seed prints it; the tolerance is half a unit of its last digit.
#include <gtest/gtest.h>

#include <cmath>

#include "tp/attention_cost.h"
#include "tp/intensity.h"
#include "tp/kv_cache.h"
#include "tp/mixed_cost.h"
#include "tp/projection_cost.h"

namespace headsplit::tp {
namespace {

constexpr double kGiga = 1e9;
constexpr double kTera = 1e12;
constexpr double kMega = 1e6;

/// DeepSeek-V3's widths: d_latent 512, d_rope 64, d_nope 128, d_v 128.
RankProblem v3(int heads, int query_tokens = 1, std::int64_t context = 4096) {
  return {.local_heads = heads, .query_tokens = query_tokens, .context = context};
}

/// The same with the RoPE segment left out, as the seed's main text has it.
RankProblem without_rope(int heads, int query_tokens = 1, std::int64_t context = 4096) {
  RankProblem problem = v3(heads, query_tokens, context);
  problem.d_rope = 0;
  return problem;
}

// AI = H T (D + d_c) / D with D = 576, d_c = 512 (roofline notes, section 3 and 5).
TEST(Golden, LongContextIntensityOfAbsorbedMla) {
  EXPECT_NEAR(mla_intensity_limit(v3(128)), 241.8, 0.05);
  EXPECT_NEAR(mla_intensity_limit(v3(64)), 120.9, 0.05);
  EXPECT_NEAR(mla_intensity_limit(v3(32)), 60.4, 0.05);
  EXPECT_NEAR(mla_intensity_limit(v3(128, 2)), 483.6, 0.05);
}

// 2 H (D + d_c) / 656 = 278528 / 656 (roofline notes, section 8).
TEST(Golden, IntensityOfTheFp8Cache) {
  RankProblem problem = v3(128);
  problem.kv_dtype = KvDtype::fp8;
  EXPECT_EQ(latent_row_bytes(problem), 656);
  EXPECT_NEAR(mla_intensity_limit(problem), 424.6, 0.05);
}

// 2 H L (D + d_c) / (2 L D + 2 H (D + d_c)) at H = 128, L = 4096 (regime page: 228).
TEST(Golden, IntensityWithQueriesAndOutputsCounted) {
  EXPECT_NEAR(mla_intensity(v3(128)), 228, 0.5);
  const Work work = mla_dense_work(v3(128));
  EXPECT_NEAR(work.intensity(), mla_intensity(v3(128)), 1e-9);
}

// 2 T H (D + d_c) / (2 D) tokens (roofline notes, section 3: about 242).
TEST(Golden, FixedTrafficInCachedTokens) { EXPECT_NEAR(fixed_traffic_tokens(v3(128)), 242, 0.5); }

// AI = H_q / H_kv in BF16 (arithmetic-intensity page, section 2.6 and 2.7).
TEST(Golden, IntensityOfPerHeadAttention) {
  EXPECT_EQ(per_head_intensity(128, 128), 1);
  EXPECT_EQ(per_head_intensity(28, 4), 7);
  EXPECT_EQ(per_head_intensity(32, 8), 4);
  EXPECT_EQ(per_head_intensity(71, 1), 71);
  // The same from the byte and FLOP counts: 2 H L (d_k + d_v) / (2 L G (d_k + d_v)).
  const Work work = per_head_work({.local_heads = 28, .kv_heads = 4, .d_rope = 0});
  EXPECT_EQ(work.flops / work.kv_bytes, 7);
}

// AI = 2 H without the RoPE segment, 1.889 H with it (section 4.2, appendix A).
TEST(Golden, IntensityOfMlaInHeads) {
  EXPECT_EQ(mla_intensity_limit(without_rope(128)), 256);
  EXPECT_EQ(mla_intensity_limit(without_rope(96)), 192);
  EXPECT_NEAR(mla_intensity_limit(v3(1)), 1.889, 0.0005);
  EXPECT_NEAR(mla_intensity_limit(v3(96)) / 96, 1.889, 0.0005);
}

// L = ridge x 2 / (H_q / H_kv) with H100's 295 (section 2.8).
TEST(Golden, PromptLengthsAtWhichPrefillPassesTheRidge) {
  EXPECT_NEAR(prefill_length_to_reach(295, 32, 32), 590, 0.5);
  EXPECT_NEAR(prefill_length_to_reach(295, 32, 8), 148, 0.5);
  EXPECT_NEAR(prefill_length_to_reach(295, 32, 1), 18, 0.5);
}

struct DecodeRow {
  std::int64_t context;
  double absorbed_flops, absorbed_bytes, absorbed_intensity;
  double expanded_flops, expanded_bytes;
};

// Kimi K3, S = 1, per layer, no RoPE segment (section 5.4):
//   absorbed 2 H (d_c (d_k + d_v) + 2 L d_c) FLOPs, 2 L d_c bytes;
//   expanded 2 H (L d_c (d_k + d_v) + L (d_k + d_v)) FLOPs, 2 L (d_c + H (d_k + d_v)) bytes.
TEST(Golden, DecodeOfKimiK3AbsorbedAndExpanded) {
  const DecodeRow rows[] = {{2048, 0.43e9, 2.10e6, 204, 51.6e9, 103e6},
                            {8192, 1.64e9, 8.39e6, 195, 207e9, 411e6},
                            {32768, 6.47e9, 33.6e6, 193, 826e9, 1640e6}};
  for (const auto& row : rows) {
    const RankProblem problem = without_rope(96, 1, row.context);
    const Work dense = mla_dense_work(problem);
    const double absorbed = dense.flops + absorb_flops(problem);
    EXPECT_NEAR(absorbed / row.absorbed_flops, 1, 0.006);
    EXPECT_NEAR(dense.kv_bytes / row.absorbed_bytes, 1, 0.003);
    EXPECT_NEAR(absorbed / dense.kv_bytes, row.absorbed_intensity, 0.5);
    const Work expanded = expanded_in_one_pass_work(problem);
    EXPECT_NEAR(expanded.flops / row.expanded_flops, 1, 0.003);
    EXPECT_NEAR(expanded.kv_bytes / row.expanded_bytes, 1, 0.005);
    EXPECT_NEAR(expanded.flops / expanded.kv_bytes, 503, 0.5);
  }
  // "120x fewer FLOPs" at L = 2048.
  const RankProblem brief = without_rope(96, 1, 2048);
  EXPECT_NEAR(
      expanded_in_one_pass_work(brief).flops / (mla_dense_work(brief).flops + absorb_flops(brief)),
      120, 1);
}

// Kimi K3 prefill, causal half of the pairs, S = L (section 5.5):
//   absorbed 2 H (L d_c (d_k + d_v) + L^2 / 2 x 2 d_c); expanded the same with d_k + d_v for 2 d_c.
TEST(Golden, PrefillOfKimiK3AbsorbedAndExpanded) {
  struct Row {
    std::int64_t length;
    double absorbed, expanded, ratio;
  };
  for (const Row& row :
       {Row{2048, 464 * kGiga, 155 * kGiga, 3.00}, Row{8192, 6.80 * kTera, 1.86 * kTera, 3.67},
        Row{32768, 106 * kTera, 27.2 * kTera, 3.91}}) {
    const RankProblem problem = without_rope(96, static_cast<int>(row.length), row.length);
    const double absorbed = causal_half(mla_dense_work(problem)).flops + absorb_flops(problem);
    const double expanded =
        causal_half(mla_expanded_work(problem)).flops + kv_expand_work(problem).flops;
    EXPECT_NEAR(absorbed / row.absorbed, 1, 0.005);
    EXPECT_NEAR(expanded / row.expanded, 1, 0.005);
    EXPECT_NEAR(absorbed / expanded, row.ratio, 0.005);
  }
}

// With the RoPE segment the pair costs 1088 and 320, so the ratio tends to 3.4 (appendix A.3).
TEST(Golden, PrefillRatioWithTheRopeSegment) {
  const RankProblem problem = v3(96, 1 << 17, 1 << 17);
  EXPECT_NEAR(mla_dense_work(problem).flops / mla_expanded_work(problem).flops, 3.4, 1e-9);
}

// V3's heads, k = 2048 (section 6): sparse 2 H (d_c (d_k + d_v) + 2 k d_c), dense expanded linear.
TEST(Golden, SparseStaysFlatWhereTheExpandedFormGrows) {
  struct Row {
    std::int64_t context;
    double expanded;
    double gap;
  };
  for (const Row& row : {Row{2048, 68.9 * kGiga, 121}, Row{8192, 275 * kGiga, 483},
                         Row{32768, 1.10 * kTera, 1931}, Row{131072, 4.41 * kTera, 7725}}) {
    const RankProblem problem = without_rope(128, 1, row.context);
    const double sparse = mla_sparse_work(problem, 2048).flops + absorb_flops(problem);
    EXPECT_NEAR(sparse, 0.57 * kGiga, 0.005 * kGiga);
    const double expanded = expanded_in_one_pass_work(problem).flops;
    EXPECT_NEAR(expanded / row.expanded, 1, 0.005);
    EXPECT_NEAR(expanded / sparse / row.gap, 1, 0.005);
  }
}

// Bytes = values x 2 x context x 93 layers (section 3): 256 values a KV head, 512 for the latent.
TEST(Golden, CacheOfThirtyTwoThousandTokensInNinetyThreeLayers) {
  const Model k3{
      .heads = 96, .layers = 24, .d_latent = 512, .d_rope = 64, .d_nope = 128, .d_v = 128};
  const auto sizes = cache_sizes(k3, 32768, 93);
  ASSERT_EQ(sizes.size(), 7u);
  EXPECT_NEAR(sizes[0].gib, 139.5, 0.05);
  EXPECT_NEAR(sizes[1].gib, 11.6, 0.05);
  EXPECT_NEAR(sizes[2].gib, 1.45, 0.005);
  EXPECT_NEAR(sizes[3].gib, 2.91, 0.005);
  EXPECT_EQ(sizes[3].values_per_token, 512);
  EXPECT_EQ(sizes[5].bytes_per_token, 656.0 * 93);
  EXPECT_EQ(sizes[6].bytes_per_token, 576.0 * 93);
}

// 2 hidden d_c + 2 hidden H d_k + 2 H d_c (d_k + d_v), against 4 H d_c L (section 4.1).
TEST(Golden, WorkOfDeepSeekV3ThatDoesNotGrowWithTheContext) {
  const Model simplified{
      .heads = 128, .layers = 61, .hidden = 7168, .d_latent = 512, .d_nope = 128, .d_v = 128};
  const double fixed = fixed_flops(simplified);
  EXPECT_NEAR(fixed, 276 * kMega, 0.5 * kMega);
  EXPECT_NEAR(fixed / mla_dense_work(without_rope(128, 1, 8192)).flops, 0.13, 0.005);
  EXPECT_NEAR(fixed / mla_dense_work(without_rope(128, 1, 32768)).flops, 0.03, 0.005);
}

// Regime page, h = 128, d = 128, k = 512, p = 64, b = 32, t = 4096, w = 2:
//   FlashAttention 2 b h s t (2 d + p) FLOPs, w b h (s + t)(2 d + p) bytes;
//   FlashMLA 2 b h s t (2 k + p) FLOPs, w (b h s (2 k + p) + b t (k + p)) bytes.
TEST(Golden, IntensitiesOfTheRegimePage) {
  const auto regime = [](int query_tokens) {
    return RankProblem{
        .local_heads = 128, .batch = 32, .query_tokens = query_tokens, .context = 4096};
  };
  const Work flash = mla_expanded_work(regime(1));
  EXPECT_EQ(flash.flops, 2.0 * 32 * 128 * 1 * 4096 * 320);
  EXPECT_EQ(flash.hbm_bytes(), 2.0 * 32 * 128 * (1 + 4096) * 320);
  EXPECT_NEAR(flash.intensity(), 1, 0.005);
  EXPECT_NEAR(mla_expanded_work(regime(1024)).intensity(), 819, 0.5);
  const Work absorbed = mla_dense_work(regime(1));
  EXPECT_EQ(absorbed.flops, 2.0 * 32 * 128 * 1 * 4096 * 1088);
  EXPECT_EQ(absorbed.hbm_bytes(), 2.0 * (32.0 * 128 * 1 * 1088 + 32.0 * 4096 * 576));
  EXPECT_NEAR(absorbed.intensity(), 228, 0.5);
}

// The nine byte terms and three FLOP terms of MLAvar6+ (regime page), o = 3072, n = 1024, s = 16.
TEST(Golden, MixedKernelTermByTerm) {
  const RankProblem problem{.local_heads = 128, .batch = 32, .query_tokens = 16, .context = 4096};
  const double b = 32, h = 128, s = 16, t = 4096, n = 1024, o = 3072, d = 128, k = 512, p = 64;
  const auto flops = mixed_flop_terms(problem, 1024);
  ASSERT_EQ(flops.size(), 3u);
  EXPECT_EQ(flops[0], (CostTerm{"2bhstp", 2 * b * h * s * t * p}));
  EXPECT_EQ(flops[1], (CostTerm{"4bhsnd", 4 * b * h * s * n * d}));
  EXPECT_EQ(flops[2], (CostTerm{"4bhsok", 4 * b * h * s * o * k}));
  const auto bytes = mixed_byte_terms(problem, 1024);
  const double expected[] = {2 * b * h * s * p, 2 * b * t * p,     2 * b * h * s * d,
                             2 * b * h * n * d, 2 * b * h * n * d, 2 * b * h * s * d,
                             2 * b * h * s * k, 2 * b * o * k,     2 * b * h * s * k};
  ASSERT_EQ(bytes.size(), std::size(expected));
  for (std::size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(bytes[i].value, expected[i]) << i;
}

TEST(Golden, MixedKernelIsTheOthersAtItsEnds) {
  const RankProblem problem{.local_heads = 16, .batch = 4, .query_tokens = 8, .context = 4096};
  const Work latent_only = mla_mixed_work(problem, 0);
  const Work dense = mla_dense_work(problem);
  EXPECT_EQ(latent_only.flops, dense.flops);
  EXPECT_EQ(latent_only.kv_bytes, dense.kv_bytes);
  EXPECT_EQ(latent_only.qo_bytes, dense.qo_bytes);
  const Work expanded_only = mla_mixed_work(problem, 4096);
  const Work expanded = mla_expanded_work(problem, RopeKey::shared);
  EXPECT_EQ(expanded_only.flops, expanded.flops);
  EXPECT_EQ(expanded_only.kv_bytes, expanded.kv_bytes);
  EXPECT_EQ(expanded_only.qo_bytes, expanded.qo_bytes);
}

}  // namespace
}  // namespace headsplit::tp
