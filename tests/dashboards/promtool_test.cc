#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "dashboards/source/dashboard.h"
#include "tests/dashboards/files.h"
#include "tests/dashboards/promql.h"

namespace headsplit::dashboards {
namespace {

/// Runs a command; its output goes to the test's.
int run(const std::string& command) { return std::system(command.c_str()); }

TEST(Promtool, AcceptsTheConfigurationAndTheRules) {
  EXPECT_EQ(run("promtool check config '" + source_path("dashboards/prometheus.yml") + "'"), 0);
  const std::string rules = source_path("dashboards/rules/");
  EXPECT_EQ(run("promtool check rules '" + rules + "recording.yml' '" + rules + "alerts.yml'"), 0);
}

TEST(Promtool, FindsTheRulesToDoWhatTheirTestsSay) {
  const std::string tests = source_path("dashboards/rules/tests/");
  EXPECT_EQ(run("promtool test rules '" + tests + "recording_test.yml'"), 0);
  EXPECT_EQ(run("promtool test rules '" + tests + "alerts_test.yml'"), 0);
}

/// Every query as the expression of a recording rule: what promtool can check without a server.
TEST(Promtool, CanReadEveryQueryOfEveryDashboard) {
  std::string text = "groups:\n  - name: queries\n    rules:\n";
  int count = 0;
  for (const DashboardFile& file : dashboard_files()) {
    for (const PanelQuery& query : queries_of(json::parse(file.text).as_object())) {
      const std::string expr = with_variables(query.expr, {{"__rate_interval", "1m"}});
      text += "      - record: query_" + std::to_string(count++) + "\n";
      text += "        expr: " + json::serialize(json::value(expr)) + "\n";
    }
  }
  const std::string path =
      (std::filesystem::temp_directory_path() / ("queries-" + std::to_string(getpid()) + ".yml"));
  std::ofstream(path) << text;
  EXPECT_EQ(run("promtool check rules '" + path + "'"), 0);
  std::filesystem::remove(path);
  EXPECT_GT(count, 40);
}

}  // namespace
}  // namespace headsplit::dashboards
