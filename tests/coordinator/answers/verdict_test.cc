#include "coordinator/answers/verdict.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/coordinator/answers/made_row.h"

namespace headsplit::coordinator {
namespace {

/// The verdict on one claim, given by what follows `judge:`.
Verdict verdict_on(const std::string& judge, const std::vector<Row>& rows,
                   const std::string& folder = ".") {
  const std::string text =
      "claims: [{id: a, source: a paper, statement: it is so, rows_from: a sweep, judge: " + judge +
      "}]";
  const auto claims = claims_from_yaml(text, "claims.yaml", folder);
  EXPECT_TRUE(claims) << (claims ? "" : claims.error().message);
  return claims ? coordinator::judge(claims.value(), rows).front() : Verdict{};
}

constexpr const char* kHalves =
    "{kind: ratio, vary: tp, from: 1, to: [2, 8], expected: inverse, "
    "accept: {near: 1, tolerance: 0.1}}";

TEST(Verdict, ConfirmsARatioThatIsAsExpected) {
  const std::vector<Row> rows = {made_row("one", 800), split_by_heads(made_row("two", 400), 2),
                                 split_by_heads(made_row("eight", 105), 8)};
  const Verdict verdict = verdict_on(kHalves, rows);
  EXPECT_EQ(verdict.verdict, Ruling::confirmed);
  EXPECT_DOUBLE_EQ(*verdict.figure, (1.0 + 1.05) / 2);
  EXPECT_EQ(verdict.cases_agreeing, 2);
  EXPECT_EQ(verdict.rows, (std::vector<std::string>{"one", "two", "eight"}));
  EXPECT_TRUE(verdict.rows_against.empty());
}

TEST(Verdict, RefutesWithTheRowsThatSaySo) {
  const std::vector<Row> rows = {made_row("one", 800), split_by_heads(made_row("two", 400), 2),
                                 split_by_heads(made_row("eight", 500), 8)};
  const Verdict verdict = verdict_on(kHalves, rows);
  EXPECT_EQ(verdict.verdict, Ruling::refuted);
  EXPECT_EQ(verdict.rows, (std::vector<std::string>{"one", "eight"}));
  EXPECT_EQ(verdict.rows_against, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(verdict.sentence,
            "time_us at tp 2 or 8 over that at 1, as a part of what inverse would be is 3 "
            "(median of 2; 1 to 5); 1 of 2 within 0.9 to 1.1");
}

TEST(Verdict, IsNotMadeOfRowsOfDifferentGpusOrBuilds) {
  Row other_gpu = split_by_heads(made_row("gpu", 400), 2);
  other_gpu.gpu_uuid = "GPU-2";
  Row other_build = split_by_heads(made_row("build", 400), 2);
  other_build.build = "b2";
  const Verdict verdict = verdict_on(kHalves, {made_row("one", 800), other_gpu, other_build});
  EXPECT_EQ(verdict.verdict, Ruling::not_judged);
  EXPECT_EQ(verdict.sentence,
            "3 rows, but without a pair of tp 1 and 2 or 8 with time_us that is equal in all "
            "else, on one GPU with one build; rows from: a sweep");
}

TEST(Verdict, IsNotMadeOfRowsThatFailed) {
  Row failed = made_row("failed", 10);
  failed.status = Status::failed;
  const Verdict verdict =
      verdict_on("{kind: value, where: {kernel: mla_dense}, accept: {max: 20}}", {failed});
  EXPECT_EQ(verdict.verdict, Ruling::not_judged);
  EXPECT_EQ(verdict.sentence, "no ok row with kernel mla_dense; rows from: a sweep");
}

TEST(Verdict, TakesRepeatsByTheirMedian) {
  std::vector<Row> rows = {made_row("a", 10), made_row("b", 11), made_row("c", 90)};
  for (int i = 0; i < 3; ++i) rows[static_cast<std::size_t>(i)].repeat = i;
  const Verdict verdict = verdict_on("{kind: value, accept: {max: 20}}", rows);
  EXPECT_EQ(verdict.verdict, Ruling::confirmed);
  EXPECT_DOUBLE_EQ(*verdict.figure, 11);
  EXPECT_EQ(verdict.rows.size(), 3u);
}

TEST(Verdict, AsksForTheShareOfCasesTheClaimNames) {
  std::vector<Row> rows;
  for (int i = 0; i < 10; ++i) {
    rows.push_back(made_row(std::to_string(i), i == 0 ? 99 : 10));
    rows.back().batch = rows.back().rank_batch = i + 1;
  }
  EXPECT_EQ(verdict_on("{kind: value, accept: {max: 20}, share: 0.9}", rows).verdict,
            Ruling::confirmed);
  EXPECT_EQ(verdict_on("{kind: value, accept: {max: 20}, share: 0.95}", rows).verdict,
            Ruling::refuted);
}

TEST(Verdict, LacksAFigureRatherThanTakingItForZero) {
  const Verdict verdict = verdict_on("{kind: value, of: intensity_per_head, accept: {max: 2}}",
                                     {made_row("no counters", 10)});
  EXPECT_EQ(verdict.verdict, Ruling::not_judged);
  EXPECT_EQ(verdict.sentence, "1 row, but without intensity_per_head; rows from: a sweep");
}

TEST(Verdict, MeasuresASpreadAcrossAxes) {
  std::vector<Row> rows = {made_row("a", 100), made_row("b", 103), made_row("c", 104)};
  rows[1].batch = 8;
  rows[2].context = 4096;
  const Verdict verdict =
      verdict_on("{kind: spread, across: [batch, context], accept: {max: 1.05}}", rows);
  EXPECT_EQ(verdict.verdict, Ruling::confirmed);
  EXPECT_DOUBLE_EQ(*verdict.figure, 1.04);
}

TEST(Verdict, FindsTheKneeFromBothEndsOfASeries) {
  Row large = made_row("large", 800);  // 128 heads x 2 tokens: 3.125 us a head
  large.query_tokens = 2;
  const std::vector<Row> rows = {split_by_heads(made_row("small", 250), 8), made_row("mid", 420),
                                 large};
  const Verdict verdict = verdict_on("{kind: knee, accept: {near: 76, tolerance: 0.1}}", rows);
  EXPECT_EQ(verdict.verdict, Ruling::confirmed);
  EXPECT_DOUBLE_EQ(*verdict.figure, 80);
  EXPECT_EQ(verdict.rows, (std::vector<std::string>{"small", "large"}));
}

/// Two kernels whose times cross at 32 query tokens.
std::vector<Row> crossing_rows(const std::vector<int>& tokens) {
  std::vector<Row> rows;
  for (const int count : tokens) {
    Row absorbed = made_row("absorbed" + std::to_string(count), 10.0 * count);
    absorbed.query_tokens = count;
    Row expanded = absorbed;
    expanded.point_id = "expanded" + std::to_string(count);
    expanded.kernel = "mla_expanded";
    expanded.time_us = 320;
    rows.push_back(absorbed);
    rows.push_back(expanded);
  }
  return rows;
}

constexpr const char* kCrossing =
    "{kind: crossing, vary: kernel, from: mla_dense, to: mla_expanded, along: query_tokens, "
    "accept: {min: 16, max: 40}}";

TEST(Verdict, FindsWhereOneKernelOvertakesAnother) {
  const Verdict verdict = verdict_on(kCrossing, crossing_rows({1, 16, 64}));
  EXPECT_EQ(verdict.verdict, Ruling::confirmed);
  EXPECT_NEAR(*verdict.figure, 32, 1e-9);
}

TEST(Verdict, TakesExpandingAnewForTheSumOfItsTwoLaunches) {
  constexpr const char* kAnew =
      "{kind: crossing, vary: kernel, from: mla_dense, to: mla_reexpanded, along: query_tokens, "
      "accept: {min: 128, max: 171}}";
  std::vector<Row> rows = crossing_rows({1, 64, 256});
  EXPECT_EQ(verdict_on(kAnew, rows).verdict, Ruling::not_judged);
  for (const double time_us : {900.0, 1000.0, 5000.0}) {
    rows.push_back(made_row("expand", time_us));
    rows.back().kernel = "kv_expand";
  }
  const Verdict verdict = verdict_on(kAnew, rows);
  EXPECT_EQ(verdict.verdict, Ruling::confirmed) << verdict.sentence;
  EXPECT_NEAR(*verdict.figure, 132, 1e-9) << "10 us a query token against 320 + 1000 us";
}

TEST(Verdict, RefutesACrossingThatNeverComes) {
  auto rows = crossing_rows({1, 16, 64});
  for (Row& row : rows) row.time_us = row.kernel == "mla_dense" ? 1 : 2;
  const Verdict verdict = verdict_on(kCrossing, rows);
  EXPECT_EQ(verdict.verdict, Ruling::refuted);
  EXPECT_FALSE(verdict.figure);
  EXPECT_NE(verdict.sentence.find("is never"), std::string::npos) << verdict.sentence;
}

TEST(Verdict, DoesNotJudgeACrossingBeyondItsSeries) {
  EXPECT_EQ(verdict_on(kCrossing, crossing_rows({1, 16})).verdict, Ruling::not_judged);
  EXPECT_EQ(verdict_on(kCrossing, crossing_rows({36, 64})).verdict, Ruling::not_judged);
}

TEST(Verdict, ComparesWithAPublishedTable) {
  const std::string folder = testing::TempDir();
  std::ofstream(folder + "/published.csv")
      << "# a paper\nlocal_heads,batch,context,kv_dtype,time_us\n128,64,16384,bf16,100\n"
         "128,64,16384,fp8,50\n64,64,16384,bf16,60\n";
  const Verdict verdict =
      verdict_on("{kind: table, file: published.csv, accept: {near: 1, tolerance: 0.1}}",
                 {made_row("a", 104), split_by_heads(made_row("b", 59), 2)}, folder);
  EXPECT_EQ(verdict.verdict, Ruling::confirmed);
  EXPECT_EQ(verdict.cases, 2);
  EXPECT_DOUBLE_EQ(*verdict.figure_high, 1.04);
}

TEST(Verdict, IsWrittenAsTextMarkdownAndJson) {
  const std::vector<Verdict> verdicts = {
      verdict_on("{kind: value, accept: {max: 20}}", {made_row("row1", 10)}),
      verdict_on("{kind: value, accept: {max: 20}}", {made_row("row2", 30)}),
      verdict_on("{kind: value, where: {kernel: none|such}, accept: {max: 20}}", {})};
  EXPECT_EQ(verdict_text(verdicts),
            "confirmed   a  it is so\n"
            "               time_us is 10; 1 of 1 within at most 20\n"
            "refuted     a  it is so\n"
            "               time_us is 30; 0 of 1 within at most 20\n"
            "not judged  a  no ok row with kernel none|such; rows from: a sweep\n"
            "3 claims: 1 confirmed, 1 refuted, 1 not judged\n");
  EXPECT_EQ(
      verdict_markdown(verdicts),
      "| claim | source | statement | verdict | figure | what the rows say |\n"
      "|---|---|---|---|--:|---|\n"
      "| a | a paper | it is so | confirmed | 10 | time\\_us is 10; 1 of 1 within at most 20 |\n"
      "| a | a paper | it is so | refuted | 30 | time\\_us is 30; 0 of 1 within at most 20 |\n"
      "| a | a paper | it is so | not judged | - | no ok row with kernel none\\|such; rows "
      "from: a sweep |\n"
      "\n3 claims: 1 confirmed, 1 refuted, 1 not judged\n");
  EXPECT_EQ(json_text(verdicts[1]),
            R"({"id":"a","source":"a paper","statement":"it is so","verdict":"refuted",)"
            R"("figure":3E1,"figure_low":3E1,"figure_high":3E1,"accepted_low":null,)"
            R"("accepted_high":2E1,"share_needed":1E0,"cases":1,"cases_agreeing":0,)"
            R"("rows":["row2"],"rows_against":[],)"
            R"("sentence":"time_us is 30; 0 of 1 within at most 20"})");
}

}  // namespace
}  // namespace headsplit::coordinator
