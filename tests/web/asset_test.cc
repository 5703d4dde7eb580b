#include "coordinator/web/asset.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace headsplit::coordinator {
namespace {

std::string file_text(const std::string& path) {
  std::ifstream in(std::string(std::getenv("HEADSPLIT_SOURCE")) + "/coordinator/web/" + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(Asset, CarriesEveryFileOfThePageByteForByte) {
  ASSERT_GT(assets().size(), 20u);
  for (const Asset& asset : assets()) {
    EXPECT_EQ(asset.content, file_text(std::string(asset.path))) << asset.path;
  }
}

TEST(Asset, IsFoundByItsPathAndByNothingElse) {
  ASSERT_NE(find_asset("js/main.js"), nullptr);
  EXPECT_EQ(find_asset("js/../js/main.js"), nullptr);
  EXPECT_EQ(find_asset("/js/main.js"), nullptr);
  EXPECT_EQ(find_asset(""), nullptr);
}

TEST(Asset, HasAMediaTypeThatBrowsersRunModulesWith) {
  EXPECT_EQ(content_type_of("js/main.js"), "text/javascript; charset=utf-8");
  EXPECT_EQ(content_type_of("icon.svg"), "image/svg+xml");
  EXPECT_EQ(content_type_of("unknown"), "application/octet-stream");
}

TEST(Asset, TagsDifferWhenTheContentDoes) {
  EXPECT_EQ(entity_tag("a"), entity_tag("a"));
  EXPECT_NE(entity_tag("a"), entity_tag("b"));
  EXPECT_EQ(entity_tag("a").front(), '"');
}

TEST(Asset, HashesAsContentSecurityPolicyHasThem) {
  // From the definition: SHA-256 of the empty text.
  EXPECT_EQ(sha256_base64(""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

TEST(Asset, AllOfThemTogetherWeighLessThanAMegabyte) {
  std::size_t bytes = 0;
  for (const Asset& asset : assets()) bytes += asset.content.size();
  EXPECT_LT(bytes, 1'000'000u);
}

}  // namespace
}  // namespace headsplit::coordinator
