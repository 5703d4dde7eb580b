#include "cli/preflight.h"

#include <gtest/gtest.h>

#include "core/json.h"

namespace headsplit::cli {
namespace {

struct Ran {
  Outcome outcome;
  std::string out;
};

Ran run(const std::string& arguments) {
  CLI::App app;
  Ran ran;
  add_preflight(app, ran.outcome);
  ::testing::internal::CaptureStdout();
  app.parse(arguments);
  std::fflush(stdout);
  ran.out = ::testing::internal::GetCapturedStdout();
  return ran;
}

TEST(PreflightVerb, PrintsOneJsonObjectAndIsOkForTheCpu) {
  const Ran ran = run("preflight --backend cpu --json");
  EXPECT_EQ(ran.outcome.code, ExitCode::ok);
  const json::value answer = parse_json(ran.out).value();
  EXPECT_TRUE(answer.at("ready").as_bool());
  EXPECT_EQ(answer.at("checks").at(0).at("name"), "build");
  for (const auto& check : answer.at("checks").as_array()) {
    const std::string state(check.at("state").as_string());
    EXPECT_TRUE(state == "ok" || state == "degraded" || state == "missing") << state;
  }
}

TEST(PreflightVerb, PrintsATableForPeople) {
  const Ran ran = run("preflight --backend cpu");
  EXPECT_EQ(ran.out.substr(0, 5), "check");
  EXPECT_NE(ran.out.find("\nready\n"), std::string::npos) << ran.out;
}

TEST(PreflightVerb, RefusesABackendThatDoesNotExist) {
  EXPECT_THROW(run("preflight --backend tpu"), CLI::ParseError);
  std::fflush(stdout);
  ::testing::internal::GetCapturedStdout();
}

}  // namespace
}  // namespace headsplit::cli
