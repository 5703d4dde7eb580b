#include "kernels/cpu/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace headsplit::kernels {
namespace {

TEST(ThreadPool, TakesEveryIndexOnceInManyRounds) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    std::vector<std::atomic<int>> taken(97);
    for (int round = 0; round < 200; ++round) {
      pool.for_each(97, [&](int index, int) { ++taken[std::size_t(index)]; });
    }
    for (const auto& count : taken) EXPECT_EQ(count, 200);
  }
}

TEST(ThreadPool, GivesAWorkerOneIndexAtATime) {
  ThreadPool pool(4);
  std::vector<std::atomic<int>> busy(4);
  std::atomic<int> clashes{0};
  pool.for_each(2000, [&](int, int worker) {
    if (++busy[std::size_t(worker)] != 1) ++clashes;
    --busy[std::size_t(worker)];
  });
  EXPECT_EQ(clashes, 0);
}

TEST(ThreadPool, HasNothingToDoForNoIndices) {
  ThreadPool pool(3);
  pool.for_each(0, [](int, int) { FAIL(); });
}

TEST(ThreadPool, EndsWithoutEverBeingUsed) { ThreadPool pool(3); }

}  // namespace
}  // namespace headsplit::kernels
