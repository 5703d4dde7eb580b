// The promises over seeded schedules.  HEADSPLIT_SEED=n runs and prints schedule n alone;
// HEADSPLIT_SCHEDULES=n runs so many.

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/coordinator/simulated_schedule.h"

namespace headsplit::coordinator {
namespace {

constexpr std::uint64_t kSchedules = 700;

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct Outcome {
  std::multimap<std::string, std::string> broken;  ///< promise -> what, and in which schedule
  std::uint64_t schedules = 0;
  int crashes = 0;
  int grants = 0;
};

/// All schedules, run once for all tests of this file.
const Outcome& outcome() {
  static const Outcome all = [] {
    Outcome outcome;
    const auto plans = simulated_plans();
    const std::uint64_t only = number_from_environment("HEADSPLIT_SEED", 0);
    const std::uint64_t count = number_from_environment("HEADSPLIT_SCHEDULES", kSchedules);
    for (std::uint64_t seed = only == 0 ? 1 : only; seed <= (only == 0 ? count : only); ++seed) {
      ++outcome.schedules;
      for (const std::string& what :
           broken_by_schedule(seed, plans, outcome.crashes, outcome.grants)) {
        const std::string where = str("HEADSPLIT_SEED=", seed, ": ", what);
        outcome.broken.emplace(what.substr(0, 2), where);
        if (only != 0) std::printf("%s\n", where.c_str());
      }
    }
    return outcome;
  }();
  return all;
}

std::string broken(const std::string& promise) {
  const auto& all = outcome().broken;
  const auto first = all.find(promise);
  if (first == all.end()) return "";
  return str(all.count(promise), " times; first: ", first->second);
}

TEST(Promise, P1_ADurableRowIsThereAfterEveryCrash) { EXPECT_EQ(broken("P1"), ""); }

TEST(Promise, P2_OneAcceptedRowAPointAndTheSameAnswerToARepeat) { EXPECT_EQ(broken("P2"), ""); }

TEST(Promise, P3_EveryPointEndsWithExactlyOneRow) { EXPECT_EQ(broken("P3"), ""); }

TEST(Promise, P4_AStaleAgentNeverOverwrites) { EXPECT_EQ(broken("P4"), ""); }

TEST(Promise, P5_AGangIsAllOrNothing) { EXPECT_EQ(broken("P5"), ""); }

TEST(Promise, P6_NoAttemptOutlivesItsDeadline) { EXPECT_EQ(broken("P6"), ""); }

TEST(Promise, P7_ARestartRunsNothingAgainThatFinished) { EXPECT_EQ(broken("P7"), ""); }

TEST(Promise, SchedulesAreRoughEnoughToMeanSomething) {
  const auto schedules = static_cast<int>(outcome().schedules);
  EXPECT_GT(outcome().crashes, 2 * schedules);  // a start counts as one
  EXPECT_GT(outcome().grants, 14 * schedules);  // 12 points each: retries are common
}

}  // namespace
}  // namespace headsplit::coordinator
