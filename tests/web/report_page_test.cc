#include "coordinator/web/report_page.h"

#include <gtest/gtest.h>

#include <regex>

#include "coordinator/web/asset.h"

namespace headsplit::coordinator {
namespace {

ReportSweep sweep_named(const std::string& name) {
  Row row = row_of(Point{});
  row.sweep = name;
  row.reason = name;
  return {.sweep = {.id = "ab", .name = name, .points = 1, .failed = 1}, .rows = {row}};
}

TEST(ReportPage, LoadsNothingFromAnywhere) {
  const std::string page = report_page({sweep_named("a sweep")});
  EXPECT_EQ(page.find("/assets/"), std::string::npos);
  EXPECT_FALSE(std::regex_search(page, std::regex(R"(\ssrc=)")));
}

TEST(ReportPage, KeepsMarkupInDataFromBecomingMarkup) {
  const std::string page = report_page({sweep_named("</script><script>alert(1)</script><!--")});
  EXPECT_EQ(page.find("alert(1)</script>"), std::string::npos);
  EXPECT_NE(page.find("\\u003c/script\\u003e\\u003cscript\\u003ealert(1)"), std::string::npos);
}

TEST(ReportPage, NamesTheHashOfEachScriptInItsPolicyAndAllowsNoOther) {
  const std::string page = report_page({sweep_named("a sweep")});
  const Asset* library = find_asset("vendor/uPlot.iife.min.js");
  ASSERT_NE(library, nullptr);
  EXPECT_NE(page.find("'sha256-" + sha256_base64(library->content) + "'"), std::string::npos);
  EXPECT_EQ(page.find("unsafe-inline"), std::string::npos);
}

TEST(ReportPage, StaysSmallWithoutRows) { EXPECT_LT(report_page({}).size(), 300'000u); }

}  // namespace
}  // namespace headsplit::coordinator
