#include "core/layout.h"

#include <gtest/gtest.h>

namespace headsplit {
namespace {

TEST(Layout, NamesOnlyTheSizesAboveOne) {
  EXPECT_EQ(layout_name({}), "tp1");
  EXPECT_EQ(layout_name({.tp = 8}), "tp8");
  EXPECT_EQ(layout_name({.tp = 4, .dp = 2}), "tp4xdp2");
  EXPECT_EQ(layout_name({.dp = 2, .cp = 4}), "dp2xcp4");
}

TEST(Layout, ReadsItsOwnNames) {
  for (const Layout layout : {Layout{}, Layout{8, 1, 1}, Layout{4, 2, 1}, Layout{2, 2, 2}}) {
    EXPECT_EQ(layout_from_name(layout_name(layout)).value(), layout);
  }
}

TEST(Layout, RefusesWhatIsNotALayoutAndSaysWhatIs) {
  for (const char* name :
       {"", "tp", "tp0", "tp-2", "pp4", "tp4x", "tp4dp2", "tp2xtp4", "tp99999999"}) {
    const auto layout = layout_from_name(name);
    ASSERT_FALSE(layout) << name;
    EXPECT_NE(layout.error().message.find("tp4xdp2"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace headsplit
