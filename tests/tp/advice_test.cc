#include "tp/advice.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace headsplit::tp {
namespace {

AdviceRequest request_for(const std::string& model, int batch, std::int64_t context,
                          int query_tokens = 1) {
  AdviceRequest request{.model = read_model(model).value(), .device = read_device("h200").value()};
  request.point.batch = batch;
  request.point.context = context;
  request.point.query_tokens = query_tokens;
  return request;
}

Result<Advice> advice_for(const AdviceRequest& request) {
  return advise(request, TimeModel(request.device), read_collective_model().value());
}

TEST(Advise, RanksWhatFitsByLatency) {
  const Advice advice = advice_for(request_for("deepseek-v3", 64, 8192)).value();
  ASSERT_TRUE(advice.best_latency);
  EXPECT_EQ(advice.best_latency->layout, advice.ranking.front().layout);
  double previous_us = 0;
  for (const auto& c : advice.ranking) {
    if (!c.fits) break;
    EXPECT_GE(c.step_time_us, previous_us);
    previous_us = c.step_time_us;
    EXPECT_NEAR(c.step_time_us, 61 * (c.attention_us + c.projection_us + c.collective_us), 1e-6);
  }
}

// Published H200 modules (research, table C): TP8 is best only at short contexts, DP8 at long ones,
// hybrids between.
TEST(Advise, PrefersHeadsAtShortAndRequestsAtLongContexts) {
  const auto best = [](int batch, std::int64_t context) {
    return advice_for(request_for("deepseek-v3", batch, context)).value().best_latency->layout;
  };
  EXPECT_EQ(best(1, 1024), "tp8");
  EXPECT_EQ(best(128, 32768), "dp8");
  const std::string between = best(64, 2048);
  EXPECT_TRUE(between == "tp4xdp2" || between == "tp2xdp4") << between;
}

TEST(Advise, PutsLayoutsThatDoNotFitLastAndCountsTheBatchThatWould) {
  // Kimi K2, 64 x 32K tokens: a copy of the whole cache is 64 x 32768 x 1152 x 61 = 147 GB.
  const Advice advice = advice_for(request_for("kimi-k2", 64, 32768, 2)).value();
  const auto tp8 = std::find_if(advice.ranking.begin(), advice.ranking.end(), [](const auto& c) {
    return c.layout == "tp8" && c.kernel == "mla_dense";
  });
  ASSERT_NE(tp8, advice.ranking.end());
  EXPECT_FALSE(tp8->fits);
  EXPECT_NEAR(tp8->memory_gb, 147.4 + 2.1, 1);
  EXPECT_LT(tp8->batch_max, 64);
  EXPECT_EQ(tp8->kv_duplication, 8);
  EXPECT_EQ(advice.best_throughput->layout, "dp8");
}

TEST(Advise, SaysWhatWouldFlipTheAnswer) {
  const Advice advice = advice_for(request_for("deepseek-v3", 64, 8192)).value();
  ASSERT_FALSE(advice.flips.empty());
  for (const auto& flip : advice.flips) {
    EXPECT_FALSE(flip.layout == advice.best_latency->layout &&
                 flip.kernel == advice.best_latency->kernel)
        << flip.what;
  }
}

TEST(Advise, GivesBreakEvensAndFreeWidths) {
  const Advice advice = advice_for(request_for("deepseek-v3", 64, 8192)).value();
  EXPECT_NEAR(*advice.dp_break_even_tokens, 149e3, 500);
  EXPECT_GT(*advice.dp_break_even_tokens_on_device, *advice.dp_break_even_tokens);
  ASSERT_TRUE(advice.cp_break_even_batch);
  for (const auto& c : advice.ranking) {
    // T* = ridge c / (2 H (D + d_latent)): 6.8 with 16 heads, 0.85 with 128 (research 2.2).
    if (c.kernel != "mla_dense") continue;
    if (c.layout == "tp8") {
      EXPECT_NEAR(c.free_query_tokens, 6.8, 0.05);
    } else if (c.layout == "dp8") {
      EXPECT_NEAR(c.free_query_tokens, 0.85, 0.005);
    }
  }
}

TEST(Advise, OffersSparseKernelsToSparseModelsOnly) {
  const auto kernels = [](const std::string& name, KvDtype dtype) {
    return advised_kernels(read_model(name).value(), dtype);
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(kernels("deepseek-v3", KvDtype::fp8), Names{"mla_dense"});
  EXPECT_EQ(kernels("deepseek-v3.2", KvDtype::fp8), (Names{"mla_dense", "mla_sparse"}));
  EXPECT_EQ(kernels("deepseek-v3", KvDtype::bf16),
            (Names{"mla_dense", "mla_expanded", "mla_mixed"}));
  EXPECT_EQ(kernels("qwen2.5-7b", KvDtype::bf16), Names{"gqa_decode"});
}

TEST(Advise, LooksAtEveryLayoutOfTheGpus) {
  const Model k3 = read_model("kimi-k3").value();
  const auto layouts = possible_layouts(k3, {.batch = 64, .context = 8192}, 6);
  EXPECT_EQ(layouts.size(), 9u);  // 6 = tp x dp x cp in 9 ways, and 6 divides 96 heads
  for (const auto& layout : layouts) EXPECT_EQ(layout.ranks(), 6);
  EXPECT_EQ(possible_layouts(k3, {.batch = 1, .context = 8192}, 6).size(), 4u);
}

TEST(Advise, MarksMeasuredFigures) {
  const AdviceRequest request = request_for("deepseek-v3", 64, 8192);
  Row row;
  row.status = Status::ok;
  row.device = "NVIDIA H200";
  row.kernel = "mla_dense";
  row.local_heads = 128;
  row.rank_batch = 8;
  row.rank_context = 8192;
  row.query_tokens = 1;
  row.time_us = 60;
  row.flops = 2.0 * 8 * 128 * 8192 * 1088;
  const TimeModel times(request.device, request.model, {row});
  const Advice advice = advise(request, times, read_collective_model().value()).value();
  int measured = 0;
  for (const auto& c : advice.ranking) {
    if (c.attention_source != Provenance::measured) continue;
    ++measured;
    EXPECT_EQ(c.layout, "dp8");
    EXPECT_EQ(c.attention_us, 60);
  }
  EXPECT_EQ(measured, 1);
}

TEST(Advise, RefusesWhatCannotBe) {
  AdviceRequest request = request_for("glm-4.7-flash", 1, 1);
  request.gpus = 3;
  const auto advice = advice_for(request);
  ASSERT_FALSE(advice) << "3 divides neither heads, nor 1 request, nor 1 token";
  EXPECT_NE(advice.error().message.find("legal tp: 1, 2, 4, 5, 10, 20"), std::string::npos);
  request = request_for("deepseek-v3", 64, 8192);
  request.gpus = 0;
  EXPECT_FALSE(advice_for(request));
  request.gpus = 8;
  request.reserve_gb = 141;
  EXPECT_FALSE(advice_for(request));
}

}  // namespace
}  // namespace headsplit::tp
