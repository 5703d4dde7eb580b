#include "kernels/device/freed_memory.h"

#include <gtest/gtest.h>

namespace headsplit::kernels {
namespace {

using std::chrono::duration;

double seconds_after(FreedMemory::Clock::time_point start, const FreedMemory& freed) {
  return duration<double>(freed.cleared() - start).count();
}

TEST(FreedMemory, IsClearedAtTheRateThatWasSeen) {
  const auto start = FreedMemory::Clock::now();
  FreedMemory freed;
  freed.add(30'000'000'000, start);
  EXPECT_NEAR(seconds_after(start, freed), 0.1, 1e-6);
}

TEST(FreedMemory, IsClearedInOrder) {
  const auto start = FreedMemory::Clock::now();
  FreedMemory freed;
  freed.add(30'000'000'000, start);
  freed.add(15'000'000'000, start + std::chrono::milliseconds(10));
  EXPECT_NEAR(seconds_after(start, freed), 0.15, 1e-6);
  freed.add(3'000'000'000, start + std::chrono::seconds(5));
  EXPECT_NEAR(seconds_after(start, freed), 5.01, 1e-6);
}

TEST(FreedMemory, IsNotWaitedForWhereThereIsNone) {
  EXPECT_LT(FreedMemory().cleared(), FreedMemory::Clock::now());
}

}  // namespace
}  // namespace headsplit::kernels
