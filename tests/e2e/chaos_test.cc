// Sweeps on real processes while things break.  HEADSPLIT_CHAOS_ROUNDS=n runs so many rounds,
// HEADSPLIT_SEED=n begins with that one; `./dev bench chaos` runs 200.

#include "tests/e2e/chaos.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace headsplit::e2e {
namespace {

constexpr int kRounds = 2;

int number_from_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

TEST(Chaos, NothingIsLostAndNothingIsRunTwice) {
  const int rounds = number_from_environment("HEADSPLIT_CHAOS_ROUNDS", kRounds);
  const int first = number_from_environment("HEADSPLIT_SEED", 1);
  const Scratch scratch;
  std::map<std::string, int> count;
  for (int seed = first; seed < first + rounds; ++seed) {
    const auto start = std::chrono::steady_clock::now();
    ChaosRound round(static_cast<std::uint64_t>(seed), scratch.path("faults"));
    ASSERT_FALSE(testing::Test::HasFatalFailure());
    const std::vector<std::string> broken = round.run();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::string text;
    for (const std::string& fault : round.faults()) {
      text += (text.empty() ? "" : ", ") + fault;
      ++count[fault];
    }
    std::printf("round HEADSPLIT_SEED=%d: %.1f s; %s\n", seed, took.count(), text.c_str());
    std::fflush(stdout);
    for (const std::string& what : broken) {
      ADD_FAILURE() << "HEADSPLIT_SEED=" << seed << " (" << text << "): " << what;
    }
  }
  for (const auto& [fault, times] : count) std::printf("  %4d x %s\n", times, fault.c_str());
}

/// VmHWM: the most memory that the process ever had resident.
double most_resident_mib(pid_t process) {
  std::ifstream in(str("/proc/", process, "/status"));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("VmHWM:")) return std::atof(line.c_str() + 6) / 1024;
  }
  return 0;
}

TEST(Promise, P9_MemoryStaysBoundedUnderAFloodOfRowsOnASlowDisk) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep what was freed, and shadows of all of it";
#endif
  const Scratch scratch;
  Flood flood(scratch.path("faults"));
  const double before_mib = most_resident_mib(flood.coordinator());
  const std::int64_t sent = flood.run(std::chrono::seconds(4));
  const double after_mib = most_resident_mib(flood.coordinator());
  EXPECT_GT(sent, 2000);
  EXPECT_LT(after_mib, before_mib + 100) << sent << " rows of 8 kB";
  EXPECT_TRUE(flood.served()) << "others are answered";
}

}  // namespace
}  // namespace headsplit::e2e
