#include "tp/layout_cost.h"

#include <gtest/gtest.h>

#include "tp/collective.h"
#include "tp/layer_table.h"

namespace headsplit::tp {
namespace {

Model v3() { return read_model("deepseek-v3").value(); }
TimeModel h200() { return TimeModel(read_device("h200").value()); }

std::vector<LayoutRow> rows_of(const std::vector<Layout>& layouts, Point point = {}) {
  point.batch = 128;
  point.context = 8192;
  return layout_rows(v3(), point, layouts, h200()).value();
}

// Design, layout arithmetic: FLOPs 2 B T H L (D + d_latent) / P; KV bytes B L c / (dp cp);
// Q+O bytes (B/dp) T (H/tp) (D + d_latent) 2.
TEST(LayoutRows, FollowTheLayoutArithmetic) {
  const auto rows = rows_of({{.tp = 8}, {.dp = 8}, {.cp = 8}, {.tp = 4, .dp = 2}});
  const double flops = 2.0 * 128 * 128 * 8192 * 1088;
  const double kv_bytes = 128.0 * 8192 * 1152;
  for (const auto& row : rows) EXPECT_EQ(row.flops, flops / 8) << row.layout;
  EXPECT_EQ(rows[0].kv_bytes, kv_bytes);
  EXPECT_EQ(rows[1].kv_bytes, kv_bytes / 8);
  EXPECT_EQ(rows[2].kv_bytes, kv_bytes / 8);
  EXPECT_EQ(rows[3].kv_bytes, kv_bytes / 2);
  EXPECT_EQ(rows[0].qo_bytes, 128.0 * 16 * 1088 * 2);
  EXPECT_EQ(rows[1].qo_bytes, 16.0 * 128 * 1088 * 2);
  EXPECT_EQ(rows[2].qo_bytes, 128.0 * 128 * 1088 * 2) << "context ranks hold all heads' queries";
  for (const auto& row : rows) {
    EXPECT_EQ(row.kv_memory_bytes_per_layer, row.kv_bytes);
    EXPECT_EQ(row.hbm_bytes, row.kv_bytes + row.qo_bytes);
    EXPECT_DOUBLE_EQ(row.tp_efficiency, row.speedup / 8);
  }
}

TEST(LayoutRows, KeepTheReuseUnderDpAndCpAndLoseItUnderTp) {
  const auto rows = rows_of({{}, {.tp = 8}, {.dp = 8}, {.cp = 8}});
  EXPECT_EQ(rows[0].reuse_retained, 1);
  EXPECT_NEAR(rows[1].reuse_retained, 1.0 / 8, 0.005);
  EXPECT_DOUBLE_EQ(rows[2].reuse_retained, 1);
  EXPECT_GT(rows[3].reuse_retained, 0.8);
  EXPECT_EQ(rows[1].kv_duplication, 8);
  EXPECT_EQ(rows[2].kv_duplication, 1);
  EXPECT_EQ(rows[3].kv_duplication, 1);
}

TEST(LayoutRows, ShardExpandedKAndVByHead) {
  const auto rows = rows_of({{.tp = 8}}, {.kernel = "mla_expanded"});
  EXPECT_EQ(rows[0].kv_duplication, 1);
  EXPECT_NEAR(rows[0].speedup, 8, 0.01);
}

TEST(LayoutRows, RepeatSharedKvHeadsOnlyBeyondTheirNumber) {
  const Model qwen = read_model("qwen2.5-7b").value();
  const Point point{.kernel = "gqa_decode", .batch = 64, .context = 4096};
  const auto rows = layout_rows(qwen, point, {{.tp = 4}, {.tp = 28}}, h200()).value();
  EXPECT_EQ(rows[0].kv_duplication, 1);
  EXPECT_EQ(rows[1].kv_duplication, 7);
}

TEST(LayoutRows, FollowTheSlowestRankWhenABatchDoesNotDivide) {
  const Point point{.batch = 9, .context = 8192};
  const auto rows = layout_rows(v3(), point, {{.dp = 8}}, h200()).value();
  EXPECT_EQ(rows[0].kv_bytes, 2 * 8192.0 * 1152);
}

TEST(LengthSum, IsWhatTheRaggedDrawExpects) {
  RankProblem problem{.batch = 1, .context = 1000, .lengths = Lengths::ragged};
  EXPECT_EQ(length_sum(problem), 1000);
  problem.batch = 2;
  EXPECT_EQ(length_sum(problem), 1500);
  problem.batch = 10;
  EXPECT_EQ(length_sum(problem), 1000 + 8 * 500);
  problem.lengths = Lengths::equal;
  EXPECT_EQ(length_sum(problem), 10000);
}

TEST(KernelWork, CountsTheCausalHalfOnlyWhenTheWholePromptIsQueried) {
  const Point decode{.kernel = "mla_expanded", .query_tokens = 64, .context = 4096};
  const Point prefill{.kernel = "mla_expanded", .query_tokens = 4096, .context = 4096};
  EXPECT_EQ(kernel_work(v3(), decode).value().flops, 2.0 * 64 * 128 * 4096 * 320);
  EXPECT_EQ(kernel_work(v3(), prefill).value().flops, 4096.0 * 128 * 4096 * 320);
}

TEST(KernelWork, SparseReadsItsRowsOnceForEachQueryToken) {
  // Bytes B T min(L, k) 656, no reuse across query tokens; indexer 2 h d L FLOPs, 132 bytes a key.
  const Model v32 = read_model("deepseek-v3.2").value();
  const Point point{.kernel = "mla_sparse",
                    .batch = 4,
                    .query_tokens = 2,
                    .context = 32768,
                    .kv_dtype = KvDtype::fp8};
  EXPECT_EQ(kernel_work(v32, point).value().kv_bytes, 4.0 * 2 * 2048 * 656);
  Point fewer = point;
  fewer.top_k = 512;
  EXPECT_EQ(kernel_work(v32, fewer).value().kv_bytes, 4.0 * 2 * 512 * 656);
  Point indexer = point;
  indexer.kernel = "dsa_indexer";
  const Work work = kernel_work(v32, indexer).value();
  EXPECT_EQ(work.flops, 2.0 * 4 * 2 * 32768 * 64 * 128);
  EXPECT_EQ(work.kv_bytes, 4.0 * 32768 * 132);
  indexer.layout = {.tp = 8};
  EXPECT_EQ(kernel_work(v32, indexer).value().flops, work.flops) << "every rank runs all of it";
}

TEST(KernelWork, AddsTheProjectionsToAWholeLayer) {
  // W_rep = q_a 11.01M + kv_a 4.13M; W_sh = q_b 37.75M + kv_b 16.78M + o 117.44M.
  const AttentionWeights weights = attention_weights(v3());
  EXPECT_NEAR(weights.replicated / 1e6, 11.01 + 4.13, 0.005);
  EXPECT_NEAR(weights.sharded / 1e6, 171.97, 0.005);
  const Point point{.kernel = "mla_layer", .layout = {.tp = 8}, .batch = 64, .context = 8192};
  Point core = point;
  core.kernel = "mla_dense";
  const Work layer = kernel_work(v3(), point, {.weight_dtype = WeightDtype::fp8}).value();
  EXPECT_NEAR(layer.weight_bytes, weights.replicated + weights.sharded / 8, 1);
  EXPECT_NEAR(layer.flops - kernel_work(v3(), core).value().flops,
              2 * 64 * (weights.replicated + weights.sharded / 8), 1e3);
}

TEST(LayerParts, AddUpToTheLayer) {
  const Point point{.kernel = "mla_layer", .layout = {.tp = 4}, .batch = 16, .context = 4096};
  const auto parts = layer_parts(v3(), point, h200().rates(), WeightDtype::bf16).value();
  double flops = 0;
  double share = 0;
  for (const auto& part : parts) {
    flops += part.flops;
    share += part.flops_share;
  }
  EXPECT_NEAR(flops / kernel_work(v3(), point).value().flops, 1, 1e-12);
  EXPECT_NEAR(share, 1, 1e-12);
}

TEST(PaddedRows, RoundUpToWholeMmaTiles) {
  EXPECT_EQ(padded_rows(16, 1), 48);
  EXPECT_EQ(padded_rows(64, 1), 0);
  EXPECT_EQ(padded_rows(96, 1), 32);
  EXPECT_EQ(padded_rows(16, 6), 32);
}

TEST(LayoutCollectives, AreThoseOfTheLayoutTable) {
  const auto of = [](const Layout& layout, QueryProjection query, Merge merge) {
    return layout_collectives(v3(), {.layout = layout, .batch = 64, .context = 8192}, query, merge);
  };
  EXPECT_TRUE(of({.dp = 8}, QueryProjection::gathered, Merge::all_to_all).empty());
  const auto heads = of({.tp = 8}, QueryProjection::gathered, Merge::all_to_all);
  ASSERT_EQ(heads.size(), 1u);
  EXPECT_EQ(heads[0].kind, CollectiveKind::all_reduce);
  EXPECT_EQ(heads[0].bytes, 64.0 * 7168 * 2);
  const auto context = of({.cp = 8}, QueryProjection::gathered, Merge::all_to_all);
  ASSERT_EQ(context.size(), 3u);
  EXPECT_EQ(context[0].kind, CollectiveKind::all_gather);
  EXPECT_EQ(context[0].bytes, 64.0 * 128 * 576 * 2);
  EXPECT_EQ(context[1].kind, CollectiveKind::all_to_all);
  EXPECT_EQ(context[1].bytes, 64.0 * 128 * (512 * 2 + 4));
  EXPECT_EQ(context[2].ranks, 8);
  const auto scatter = of({.cp = 8}, QueryProjection::replicated, Merge::gather_scatter);
  ASSERT_EQ(scatter.size(), 3u);
  EXPECT_EQ(scatter[0].bytes, 64.0 * 128 * 4 * 8) << "log-sum-exp of all ranks";
  EXPECT_EQ(scatter[1].kind, CollectiveKind::reduce_scatter);
  const auto hybrid = of({.tp = 2, .dp = 2, .cp = 2}, QueryProjection::gathered, Merge::all_to_all);
  EXPECT_EQ(hybrid[0].bytes, 32.0 * 64 * 576 * 2);
  EXPECT_EQ(hybrid[2].ranks, 4);
}

TEST(CollectiveModel, StaysNearTheMeasuredTable) {
  // NCCL 2.29.2 on H200: us at 8 GPUs (the table that the rates are fit to).
  const CollectiveModel model = read_collective_model().value();
  const auto time_us = [&](CollectiveKind kind, double bytes) {
    return model.time_us({.kind = kind, .ranks = 8, .bytes = bytes}, 450);
  };
  EXPECT_NEAR(time_us(CollectiveKind::all_reduce, 2 << 20) / 37.5, 1, 0.4);
  EXPECT_NEAR(time_us(CollectiveKind::all_gather, 8 << 20) / 43.2, 1, 0.4);
  EXPECT_NEAR(time_us(CollectiveKind::all_to_all, 8 << 20) / 40.3, 1, 0.4);
  EXPECT_NEAR(time_us(CollectiveKind::reduce_scatter, 512) / 12.1, 1, 0.1);
}

TEST(CollectiveModel, ScalesWithTheLinkAndTheRanks) {
  const CollectiveModel model = read_collective_model().value();
  const Collective large{.kind = CollectiveKind::all_gather, .ranks = 8, .bytes = 1e9};
  EXPECT_NEAR(model.time_us(large, 225) / model.time_us(large, 450), 2, 0.02);
  const auto latency_us = [&](int ranks) {
    return model.time_us({.kind = CollectiveKind::all_reduce, .ranks = ranks}, 450);
  };
  EXPECT_EQ(latency_us(3), latency_us(4)) << "the next larger group of the table";
  EXPECT_NEAR(latency_us(64) / latency_us(8), 2, 1e-9);
}

TEST(CollectiveModel, NamesTheFaultOfItsFile) {
  const auto error_of = [](const std::string& text) {
    const auto model = collective_model_from_yaml(text, "collectives.yaml");
    return model ? "no error" : model.error().message;
  };
  EXPECT_EQ(error_of("source: a\nlink_gbps: 1\n"),
            "collectives.yaml: collectives: no list all_reduce");
  EXPECT_EQ(error_of("source: a\nlink_gbps: fast\n").find("collectives.yaml:2:12: "), 0u);
  EXPECT_EQ(error_of("sauce: a").find("collectives.yaml:1:1: collectives: unknown field 'sauce'"),
            0u);
}

}  // namespace
}  // namespace headsplit::tp
