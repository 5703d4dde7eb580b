#include "cli/gpu_count.h"

#include <gtest/gtest.h>

namespace headsplit::cli {
namespace {

TEST(GpuCount, IsAllOfThemUnlessTheVariableNarrowsIt) {
  EXPECT_EQ(visible_of(8, nullptr), 8);
  EXPECT_EQ(visible_of(8, "2,3"), 2);
  EXPECT_EQ(visible_of(8, ""), 0);
  EXPECT_EQ(visible_of(8, "-1"), 0);
  EXPECT_EQ(visible_of(2, "GPU-1b2c,GPU-3d4e"), 2);
}

TEST(GpuCount, EndsAtTheFirstDeviceThatDoesNotExist) {
  EXPECT_EQ(visible_of(2, "0,7,1"), 1);
  EXPECT_EQ(visible_of(0, "0"), 0);
}

}  // namespace
}  // namespace headsplit::cli
