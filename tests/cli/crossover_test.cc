#include "cli/crossover.h"

#include <gtest/gtest.h>

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
        "crossover --model kimi-k2 --device h200 --tp 3",
        "crossover --model kimi-k2 --context 0"}) {
    const Answer answer = run(command_line);
    EXPECT_EQ(answer.code, 2) << command_line;
    EXPECT_EQ(answer.err.rfind("headsplit: ", 0), 0u) << answer.err;
    EXPECT_EQ(std::count(answer.err.begin(), answer.err.end(), '\n'), 1) << answer.err;
  }
}

}  // namespace
}  // namespace headsplit::cli
