#include "cli/crossover.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/json.h"
#include "tests/cli/run_verb.h"

namespace headsplit::cli {
namespace {

Answer run(const std::string& command_line) { return run_verb(add_crossover, command_line); }

TEST(CrossoverVerb, GivesTheFlopsSwitchWithoutADevice) {
  const Answer answer = run("crossover --model deepseek-v3 --context 512 --json");
  ASSERT_EQ(answer.code, 0) << answer.err;
  const json::value value = parse_json(answer.out).value();
  EXPECT_NEAR(value.at("flops_switch_query_tokens").as_double(), 128, 0.5);
  EXPECT_TRUE(value.at("device").is_null());
}

TEST(CrossoverVerb, ComparesTimesOnADevice) {
  const Answer answer = run("crossover --model kimi-k3 --context 8K --device h200 --tp 1,3");
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.out.find("On h200"), std::string::npos);
  EXPECT_NE(answer.out.find("speculative"), std::string::npos);
}

TEST(CrossoverVerb, AnswersBadInputWithOneLineAndExitCodeTwo) {
  for (const char* command_line :
       {"crossover --model kimi-k2 --device h2000", "crossover --model falcon-7b",
        "crossover --model kimi-k2 --device h200 --tp 3", "crossover --model kimi-k2 --context 0",
        "crossover", "crossover --db nowhere.jsonl"}) {
    const Answer answer = run(command_line);
    EXPECT_EQ(answer.code, 2) << command_line;
    EXPECT_EQ(answer.err.rfind("headsplit: ", 0), 0u) << answer.err;
    EXPECT_EQ(std::count(answer.err.begin(), answer.err.end(), '\n'), 1) << answer.err;
  }
}

std::string golden(const std::string& name) {
  return std::string(std::getenv("HEADSPLIT_SOURCE")) + "/tests/cli/golden/" + name;
}

TEST(CrossoverVerb, SaysWhichRowsAreMissing) {
  const std::string only_dense = golden("rows.jsonl");
  const Answer dense = run("crossover --db " + only_dense);
  EXPECT_EQ(dense.code, 2);
  EXPECT_EQ(dense.err.find("headsplit: --db " + only_dense +
                           ": no two forms along query_tokens: deepseek-v3 tp "),
            0u)
      << dense.err;
  EXPECT_NE(dense.err.find(": no time of mla_expanded, kv_expand; rows from: headsplit run "
                           "configs/sweeps/crossover.yaml --db FILE\n"),
            std::string::npos)
      << dense.err;
  const Answer other = run("crossover --model kimi-k2 --db " + golden("crossover.jsonl"));
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(
      other.err.find(": no ok row of mla_dense or mla_expanded in bf16 that was asked for (ok "
                     "rows: kv_expand 4, mla_dense 22, mla_expanded 20); rows from: "),
      std::string::npos)
      << other.err;
}

TEST(CrossoverVerb, TakesTheDeviceFromTheRowsOnly) {
  const Answer answer = run("crossover --device h200 --db " + golden("crossover.jsonl"));
  EXPECT_EQ(answer.code, 2);
  EXPECT_EQ(answer.err, "headsplit: --device: with --db the rows say on which device they are\n");
}

}  // namespace
}  // namespace headsplit::cli
