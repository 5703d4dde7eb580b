#include "cli/advise.h"

#include <gtest/gtest.h>

#include "cli/advise_report.h"
#include "tests/cli/run_verb.h"

namespace headsplit::cli {
namespace {

Answer run(const std::string& command_line) { return run_verb(add_advise, command_line); }

TEST(AdviseVerb, RanksLayoutsAndSaysWhatFlipsTheAnswer) {
  const Answer answer =
      run("advise --model kimi-k2 --device h200 --gpus 8 --batch 64 --context 32768 "
          "--query-tokens 2");
  ASSERT_EQ(answer.code, 0) << answer.err;
  for (const char* part : {"Lowest latency:     dp8", "Highest throughput: dp8", "too much",
                           "DP beats TP from batch x context 74.6k", "What would flip the answer",
                           "Note: collectives: fit to NCCL"}) {
    EXPECT_NE(answer.out.find(part), std::string::npos) << part;
  }
}

TEST(AdviseVerb, GivesEverythingAsJson) {
  const Answer answer = run("advise --model deepseek-v3 --gpus 4 --batch 16 --context 8K --json");
  ASSERT_EQ(answer.code, 0) << answer.err;
  const json::value value = parse_json(answer.out).value();
  EXPECT_TRUE(value.at("best_latency").is_object());
  EXPECT_GT(value.at("ranking").as_array().size(), 10u);
  EXPECT_EQ(value.at("ranking").at(0).at("attention_source"), "model");
  EXPECT_TRUE(value.at("flips").is_array());
}

TEST(AdviseVerb, SaysWhenNothingFits) {
  const Answer answer =
      run("advise --model deepseek-v3 --gpus 8 --batch 4 --context 128K --reserve-gb 140");
  EXPECT_EQ(answer.code, 0);
  EXPECT_NE(answer.out.find("none fits the memory"), std::string::npos);
  EXPECT_NE(answer.out.find("nothing fits: the least is"), std::string::npos);
}

TEST(AdviseVerb, AnswersBadInputWithOneLine) {
  const char* const cases[] = {"advise --model nobody", "advise --model deepseek-v3 --gpus 0",
                               "advise --model deepseek-v3 --weights int4",
                               "advise --model deepseek-v3 --reserve-gb 200",
                               "advise --model deepseek-v3 --db /nowhere/rows.db"};
  for (const char* command_line : cases) {
    const Answer answer = run(command_line);
    EXPECT_EQ(answer.code, 2) << command_line;
    EXPECT_EQ(answer.out, "") << command_line;
    EXPECT_EQ(answer.err.rfind("headsplit: ", 0), 0u) << answer.err;
    EXPECT_EQ(std::count(answer.err.begin(), answer.err.end(), '\n'), 1) << answer.err;
  }
}

TEST(MakeAdvice, RefusesADatabaseWithoutRowsOfTheDeviceAndNamesWhatItHas) {
  Row row;
  row.status = Status::ok;
  row.device = "NVIDIA B200";
  row.time_us = 10;
  AdviseRequest request;
  request.point.model = "deepseek-v3";
  request.point.batch = 64;
  request.rows = {row};
  request.databases = {"rows.db"};
  const auto advice = make_advice(request);
  ASSERT_FALSE(advice);
  EXPECT_NE(
      advice.error().message.find("--db rows.db: no row of deepseek-v3's widths on NVIDIA H200"),
      std::string::npos);
  EXPECT_NE(advice.error().message.find("it has rows of: NVIDIA B200"), std::string::npos);
}

}  // namespace
}  // namespace headsplit::cli
