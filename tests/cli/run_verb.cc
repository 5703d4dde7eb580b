#include "tests/cli/run_verb.h"

#include <gtest/gtest.h>

namespace headsplit::cli {

Answer run_verb(void (*add_verb)(CLI::App&, Outcome&), const std::string& command_line) {
  CLI::App app("headsplit");
  Outcome outcome;
  add_verb(app, outcome);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  app.parse(command_line);
  Answer answer{static_cast<int>(outcome.code), testing::internal::GetCapturedStdout(), ""};
  answer.err = testing::internal::GetCapturedStderr();
  return answer;
}

}  // namespace headsplit::cli
