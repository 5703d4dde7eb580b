#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "coordinator/answers/verdict.h"
#include "coordinator/plan.h"

namespace headsplit::coordinator {
namespace {

std::string configs() { return std::string(std::getenv("HEADSPLIT_SOURCE")) + "/configs"; }

std::vector<Claim> shipped_claims() {
  std::ostringstream text;
  text << std::ifstream(configs() + "/claims.yaml").rdbuf();
  return claims_from_yaml(text.str(), "claims.yaml", configs()).value();
}

/// What a GPU near its roofline would send for a planned point.
Row good_row(const PlannedPoint& planned) {
  Row row = row_of(planned.point);
  row.status = Status::ok;
  row.backend = "cuda";
  row.device = "NVIDIA H200";
  row.local_heads = planned.problem.local_heads;
  row.rank_batch = planned.problem.batch;
  row.rank_context = planned.problem.context;
  row.time_us = 100;
  row.flops = 1e9;
  row.hbm_bytes_model = row.kv_bytes_model = row.dram_bytes_read = row.dram_bytes_written = 1e8;
  row.intensity_model = row.intensity_measured = 10;
  row.gbps = row.read_ceiling_gbps = 1000;
  row.tflops = row.matmul_ceiling_tflops = 10;
  row.roofline_fraction = 0.9;
  row.limiter = Limiter::memory;
  return row;
}

std::vector<Row> rows_of_sweep(const std::string& name) {
  const Sweep sweep = read_sweep(configs() + "/sweeps/" + name).value();
  std::vector<Row> rows;
  for (const auto& planned : make_plan(sweep, std::nullopt).value().points) {
    rows.push_back(good_row(planned));
  }
  return rows;
}

/// What dense bf16 rows of one H200 cannot say: other kernels, fp8, a B200, real ranks.
bool needs_more_than_dense_bf16_rows(const Claim& claim) {
  static const std::set<std::string> more = {
      "ai-mha",          "ai-gqa",           "ai-mqa",
      "ai-misleads",     "h5-fp8-dequant",   "h5-fp8-dequant-16",
      "h6-b200",         "cp-beats-tp",      "dcp-link",
      "expand-decode",   "expand-prefill",   "switch-point",
      "flash-crossover", "flashmla-16x",     "var6-wins",
      "sparse-flat",     "sparse-direction", "dsa-no-t-reuse",
      "not-dominant",    "mha-advantage",    "tp-keeps-mha",
      "tp-keeps-gqa",    "tp-erodes-mqa"};
  return more.contains(claim.id);
}

/// Of those the ones that the sweeps of the other bf16 kernels on one GPU can judge.
const std::set<std::string> kOfOtherKernels = {
    "ai-mha",          "ai-gqa",       "ai-mqa",       "ai-misleads",  "expand-decode",
    "switch-point",    "not-dominant", "tp-keeps-mha", "tp-keeps-gqa", "tp-erodes-mqa",
    "flash-crossover", "flashmla-16x", "mha-advantage"};

TEST(ReferenceSweep, HasRowsForEveryClaimThatDenseBf16RowsCanJudge) {
  const auto claims = shipped_claims();
  const auto verdicts = judge(claims, rows_of_sweep("reference-h200.yaml"));
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (needs_more_than_dense_bf16_rows(claims[i])) continue;
    EXPECT_NE(verdicts[i].verdict, Ruling::not_judged) << claims[i].id << verdicts[i].sentence;
  }
}

TEST(AttentionAndCrossoverSweeps, HaveRowsForEveryClaimOfOtherKernels) {
  const auto claims = shipped_claims();
  std::vector<Row> rows = rows_of_sweep("attention-table.yaml");
  const std::vector<Row> more = rows_of_sweep("crossover.yaml");
  rows.insert(rows.end(), more.begin(), more.end());
  const auto verdicts = judge(claims, rows);
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (!kOfOtherKernels.contains(claims[i].id)) continue;
    EXPECT_NE(verdicts[i].verdict, Ruling::not_judged) << claims[i].id << verdicts[i].sentence;
  }
}

TEST(ReferenceSweep, HasEveryShapeOfThePublishedTables) {
  const auto rows = rows_of_sweep("reference-h200.yaml");
  for (const Claim& claim : shipped_claims()) {
    if (claim.judge.kind != JudgeKind::table) continue;
    for (const ReferenceTime& published : claim.judge.table.times) {
      if (published.kv_dtype != KvDtype::bf16) continue;
      const bool measured = std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
        return row.local_heads == published.local_heads && row.rank_batch == published.batch &&
               row.query_tokens == published.query_tokens && row.rank_context == published.context;
      });
      EXPECT_TRUE(measured) << claim.id << ": " << published.local_heads
                            << " heads B=" << published.batch << " T=" << published.query_tokens
                            << " L=" << published.context;
    }
  }
}

TEST(ReferenceSweep, IsShortAndSoAreTheOthersForAnH200) {
  EXPECT_LE(rows_of_sweep("reference-h200.yaml").size(), 600u);
  EXPECT_LE(rows_of_sweep("quick-h200.yaml").size(), 600u);
  EXPECT_EQ(rows_of_sweep("aa.yaml").size(), 5 * 504u);
  EXPECT_LE(rows_of_sweep("attention-table.yaml").size(), 200u);
  EXPECT_LE(rows_of_sweep("crossover.yaml").size(), 600u);
}

}  // namespace
}  // namespace headsplit::coordinator
