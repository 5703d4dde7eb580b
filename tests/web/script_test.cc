#include "coordinator/web/script.h"

#include <gtest/gtest.h>

namespace headsplit::coordinator {
namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(LinkedScript, HoldsEachModuleOnceAndAfterThoseItImports) {
  const auto script = linked_script("js/main.js");
  ASSERT_TRUE(script) << script.error().message;
  const std::string place = "modules[\"js/dom.js\"] = ";
  EXPECT_EQ(count_of(*script, place), 1u);
  EXPECT_LT(script->find(place), script->find("modules[\"js/page.js\"] = "));
  EXPECT_LT(script->find("modules[\"js/page.js\"] = "), script->find("modules[\"js/main.js\"] = "));
}

TEST(LinkedScript, TurnsImportsAndExportsIntoPlainStatements) {
  const auto script = linked_script("js/markers.js");
  ASSERT_TRUE(script);
  EXPECT_NE(script->find("const { drawing } = modules[\"js/dom.js\"];"), std::string::npos);
  EXPECT_NE(script->find("\nfunction swatch("), std::string::npos);
  EXPECT_NE(script->find("return { traceMarker, swatch };"), std::string::npos);
  EXPECT_EQ(script->find("\nexport "), std::string::npos);
  EXPECT_EQ(script->find("\nimport "), std::string::npos);
}

TEST(LinkedScript, NeverEndsTheElementItIsPutInto) {
  const auto script = linked_script("js/main.js");
  ASSERT_TRUE(script);
  EXPECT_EQ(script->find("</script"), std::string::npos);
  EXPECT_EQ(script->find("<!--"), std::string::npos);
}

TEST(LinkedScript, SaysWhichModuleIsMissing) {
  const auto script = linked_script("js/nowhere.js");
  ASSERT_FALSE(script);
  EXPECT_EQ(script.error().message, "js/nowhere.js: no such module");
}

}  // namespace
}  // namespace headsplit::coordinator
