#include "core/token.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace headsplit {
namespace {

TEST(Token, IsTheFirstLineOfItsFile) {
  const std::string path = testing::TempDir() + "/token_test_token";
  std::ofstream(path) << "open sesame\r\nsecond line\n";
  EXPECT_EQ(token_from(path).value(), "open sesame");
  std::ofstream(path) << "\n";
  EXPECT_EQ(token_from(path).error().message, path + ": no token on its first line");
}

TEST(Token, ComesFromTheEnvironmentWithoutAFile) {
  ::setenv("HEADSPLIT_TOKEN", "from outside", 1);
  EXPECT_EQ(token_from("").value(), "from outside");
  ::unsetenv("HEADSPLIT_TOKEN");
  EXPECT_EQ(token_from("").value(), "");
}

TEST(Token, IsEqualOnlyToItself) {
  EXPECT_TRUE(same_token("abc", "abc"));
  EXPECT_FALSE(same_token("abc", "abd"));
  EXPECT_FALSE(same_token("abc", "abcd"));
  EXPECT_FALSE(same_token("", "a"));
}

}  // namespace
}  // namespace headsplit
