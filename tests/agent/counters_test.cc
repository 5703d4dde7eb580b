#include "agent/counters.h"

#include <gtest/gtest.h>

namespace headsplit::agent {
namespace {

TEST(Counters, RefuseWithAReasonWhereThereIsNoGpu) {
  // On a machine with a GPU this still holds: no context is current in this test.
  const auto counters = Counters::open();
  ASSERT_FALSE(counters);
  EXPECT_FALSE(counters.error().message.empty());
}

TEST(Counters, ThatDoNotExistGiveNothingAndAReason) {
  const Counts counts = no_counts("no driver");
  EXPECT_FALSE(counts.dram_bytes_read);
  EXPECT_FALSE(counts.tensor_ops);
  EXPECT_TRUE(counts.all.empty());
  EXPECT_EQ(counts.reason, "no driver");
}

}  // namespace
}  // namespace headsplit::agent
