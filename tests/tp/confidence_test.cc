#include "tp/confidence.h"

#include <gtest/gtest.h>

#include "tp/advice.h"
#include "tp/held_out.h"

namespace headsplit::tp {
namespace {

Candidate step_of(const std::string& layout, double attention_us, double attention_error) {
  Candidate c{.layout = layout, .kernel = "mla_dense", .attention_us = attention_us};
  c.attention_error = attention_error;
  c.step_time_us = attention_us;
  return c;
}

TEST(Confidence, IsHighWhereTheLeadIsTwiceTheExpectedError) {
  const Sureness sure = sureness_of({step_of("dp8", 100, 0.05), step_of("tp8", 120, 0.05)});
  EXPECT_EQ(sure.confidence, Confidence::high);
  EXPECT_NEAR(*sure.margin, 0.2, 1e-9);
  EXPECT_EQ(sure.runner_up, "tp8 with mla_dense");
  EXPECT_EQ(sure.reason,
            "step of dp8 with mla_dense is expected within 5 %; tp8 with mla_dense takes 20 % "
            "longer, and the expected error of that difference is 7.8 %");
}

TEST(Confidence, FallsWithTheLead) {
  const auto of = [](double second_us) {
    return sureness_of({step_of("dp8", 100, 0.05), step_of("tp8", second_us, 0.05)}).confidence;
  };
  EXPECT_EQ(of(110), Confidence::medium);
  EXPECT_EQ(of(104), Confidence::low);
}

TEST(Confidence, IsLowWithoutAnAnswerAndHighWithoutAnAlternative) {
  Candidate too_large = step_of("tp8", 120, 0.05);
  too_large.fits = false;
  EXPECT_EQ(sureness_of({too_large}).confidence, Confidence::low);
  EXPECT_EQ(sureness_of({step_of("dp8", 100, 0.3), too_large}).confidence, Confidence::high);
}

TEST(Confidence, WeighsThePartsOfAStep) {
  Candidate c = step_of("tp8", 60, 0.1);
  c.projection_us = 40;
  EXPECT_NEAR(step_error(c), std::hypot(0.1 * 60, kProjectionError * 40) / 100, 1e-12);
  c.collective_us = 100;
  const double published = step_error(c);
  c.collective_source = Provenance::measured;
  EXPECT_LT(step_error(c), published);
}

Row collective_row(const std::string& kernel, std::int64_t bytes, double time_us) {
  Row row;
  row.status = Status::ok;
  row.kernel = kernel;
  row.tp = 4;
  row.message_bytes = bytes;
  row.time_us = time_us;
  return row;
}

TEST(MeasuredCollectives, ReplaceThePublishedOnesOfTheirKindAndRanks) {
  const CollectiveModel published = read_collective_model().value();
  const CollectiveModel model = with_rows(
      published, {collective_row("all_reduce", 1000, 10), collective_row("all_reduce", 1000, 12),
                  collective_row("all_reduce", 1000, 99), collective_row("all_reduce", 4000, 48)});
  const auto time_us = [&](CollectiveKind kind, int ranks, double bytes) {
    return model.time_us({.kind = kind, .ranks = ranks, .bytes = bytes}, 450);
  };
  EXPECT_NEAR(time_us(CollectiveKind::all_reduce, 4, 1000), 12, 1e-9) << "median of repeats";
  EXPECT_NEAR(time_us(CollectiveKind::all_reduce, 4, 2000), 24, 1e-9) << "between sizes";
  EXPECT_NEAR(time_us(CollectiveKind::all_reduce, 4, 10), 12, 1e-9) << "latency below";
  EXPECT_NEAR(time_us(CollectiveKind::all_reduce, 4, 8000), 96, 1e-9) << "bandwidth above";
  const Collective other{.kind = CollectiveKind::all_gather, .ranks = 4, .bytes = 1000};
  EXPECT_EQ(model.time_us(other, 450), published.time_us(other, 450));
  EXPECT_EQ(model.source.rfind("measured: all_reduce of 4; others fit to NCCL", 0), 0u)
      << model.source;
}

TEST(MeasuredCollectives, MarkTheLayoutsThatUseNoOthers) {
  AdviceRequest request{
      .model = read_model("deepseek-v3").value(), .device = read_device("h200").value(), .gpus = 4};
  request.point.batch = 64;
  const CollectiveModel model =
      with_rows(read_collective_model().value(), {collective_row("all_reduce", 1 << 20, 20)});
  const Advice advice = advise(request, TimeModel(request.device), model).value();
  for (const Candidate& c : advice.ranking) {
    const bool only_all_reduce = c.layout == "tp4";
    EXPECT_EQ(c.collective_source == Provenance::measured, only_all_reduce) << c.layout;
  }
}

TEST(HeldOut, LeavesOutWhatTheModelHasSeenAndPutsTheWorstFirst) {
  const Model model = read_model("deepseek-v3").value();
  const Device device = read_device("h200").value();
  const auto row_of = [](int batch, double time_us) {
    Row row;
    row.status = Status::ok;
    row.device = "NVIDIA H200";
    row.kernel = "mla_dense";
    row.local_heads = 128;
    row.rank_batch = batch;
    row.rank_context = 8192;
    row.query_tokens = 1;
    row.time_us = time_us;
    row.flops = 2.0 * batch * 128 * 8192 * 1088;
    return row;
  };
  const TimeModel times(device, model, {row_of(8, 50), row_of(32, 200)});
  const auto all = held_out(
      times, measurements(device, model, {row_of(8, 51), row_of(16, 100), row_of(64, 4000)}));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].label, "128 heads B=64 T=1 L=8192");
  EXPECT_LT(all[1].error(), 0.1);
  EXPECT_GT(all[0].error(), 0.8);
}

}  // namespace
}  // namespace headsplit::tp
