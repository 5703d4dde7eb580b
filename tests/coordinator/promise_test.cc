#include <gtest/gtest.h>

#include "tests/coordinator/simulation.h"

namespace headsplit::coordinator {
namespace {

constexpr int kSchedules = 3000;
constexpr int kChaosSteps = 150;

std::shared_ptr<const Plan> plan_of(const std::string& text) {
  const Sweep sweep = sweep_from_yaml(text, "s.yaml").value();
  return std::make_shared<const Plan>(make_plan(sweep, std::nullopt).value());
}

struct History {
  std::multimap<std::string, std::string> violations;  ///< promise -> what, and in which schedule
  int crashes = 0;
  int grants = 0;
};

/// All schedules, run once for all tests of this file.
const History& history() {
  static const History all = [] {
    History history;
    const auto first = plan_of(
        "name: first\ntp: [1, 2, 4, 8]\naxes: {batch: [1, 2]}\n"
        "limits: {attempts: 2, point_timeout_s: 2}");
    const auto second = plan_of("name: second\ntp: [1, 2]\nlimits: {point_timeout_s: 2}");
    for (std::uint64_t seed = 1; seed <= kSchedules; ++seed) {
      Simulation simulation(seed, {first, second});
      simulation.run(kChaosSteps);
      for (const auto& [promise, what] : simulation.violations()) {
        history.violations.emplace(promise, str("schedule ", seed, ": ", what));
      }
      history.crashes += simulation.crashes();
      history.grants += simulation.grants();
    }
    return history;
  }();
  return all;
}

std::string broken(const std::string& promise) {
  const auto& violations = history().violations;
  const auto first = violations.find(promise);
  if (first == violations.end()) return "";
  return str(violations.count(promise), " times; first: ", first->second);
}

TEST(Promise, P2_OneAcceptedRowAPointAndTheSameAnswerToARepeat) { EXPECT_EQ(broken("P2"), ""); }

TEST(Promise, P3_EveryPointEndsWithExactlyOneRow) { EXPECT_EQ(broken("P3"), ""); }

TEST(Promise, P4_AStaleAgentNeverOverwrites) { EXPECT_EQ(broken("P4"), ""); }

TEST(Promise, P7_ARestartRunsNothingAgainThatFinished) { EXPECT_EQ(broken("P7"), ""); }

TEST(Promise, SchedulesAreRoughEnoughToMeanSomething) {
  EXPECT_GT(history().crashes, 2 * kSchedules);  // a start counts as one
  EXPECT_GT(history().grants, 13 * kSchedules);  // 10 points each: retries are common
}

}  // namespace
}  // namespace headsplit::coordinator
