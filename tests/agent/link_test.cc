#include "agent/link.h"

#include <gtest/gtest.h>

namespace headsplit::agent {
namespace {

TEST(CoordinatorAddress, ComesFromAUrl) {
  EXPECT_EQ(address_from("http://127.0.0.1:7077").value(),
            (CoordinatorAddress{"127.0.0.1", "7077"}));
  EXPECT_EQ(address_from("http://head/").value(), (CoordinatorAddress{"head", "7077"}));
  EXPECT_EQ(address_from("https://head").value(), (CoordinatorAddress{"head", "7077", true}));
  EXPECT_EQ(address_from("http://[::1]:80").value(), (CoordinatorAddress{"::1", "80"}));
}

TEST(CoordinatorAddress, RefusesWhatIsNoUrlOfACoordinator) {
  for (const std::string url : {"", "head:7077", "ftp://head", "http://", "http://head/x"}) {
    EXPECT_EQ(address_from(url).error().message,
              "coordinator URL '" + url + "': expected http://HOST:PORT or https://HOST:PORT");
  }
}

}  // namespace
}  // namespace headsplit::agent
