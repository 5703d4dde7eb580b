#include <gtest/gtest.h>

#include <yaml-cpp/yaml.h>

#include <regex>

#include "tests/dashboards/files.h"
#include "tests/dashboards/lint.h"
#include "tests/dashboards/promql.h"

namespace headsplit::dashboards {
namespace {

std::vector<YAML::Node> rules_of(const std::string& file) {
  std::vector<YAML::Node> rules;
  for (const YAML::Node& group : YAML::Load(source_text(file))["groups"]) {
    for (const YAML::Node& rule : group["rules"]) rules.push_back(rule);
  }
  return rules;
}

TEST(Rules, AskOnlyForWhatIsExported) {
  const std::set<std::string> metrics = known_metrics();
  for (const std::string file : {"dashboards/rules/recording.yml", "dashboards/rules/alerts.yml"}) {
    for (const YAML::Node& rule : rules_of(file)) {
      const auto selectors = selectors_of(rule["expr"].as<std::string>());
      EXPECT_FALSE(selectors.empty()) << rule["expr"];
      for (const Selector& selector : selectors) {
        EXPECT_TRUE(metrics.contains(selector.metric)) << selector.metric;
      }
    }
  }
}

TEST(Rules, AreNamedLevelMetricOperations) {
  const std::regex legal("(layout|instance|agent):headsplit(_[a-z0-9]+)+:[a-z0-9_]+");
  for (const YAML::Node& rule : rules_of("dashboards/rules/recording.yml")) {
    const auto name = rule["record"].as<std::string>();
    EXPECT_TRUE(std::regex_match(name, legal)) << name;
    EXPECT_EQ(name.find("_total"), std::string::npos) << name;
  }
}

TEST(Rules, HaveAUnitTestEach) {
  const std::string tests = source_text("dashboards/rules/tests/recording_test.yml") +
                            source_text("dashboards/rules/tests/alerts_test.yml");
  for (const YAML::Node& rule : rules_of("dashboards/rules/recording.yml")) {
    const auto name = rule["record"].as<std::string>();
    EXPECT_NE(tests.find("expr: " + name + "\n"), tests.find("round(" + name)) << name;
  }
  for (const YAML::Node& rule : rules_of("dashboards/rules/alerts.yml")) {
    const auto name = rule["alert"].as<std::string>();
    EXPECT_NE(tests.find("alertname: " + name + "\n"), std::string::npos) << name;
  }
}

TEST(Rules, TellPeopleWhatHappenedAndWhatToDo) {
  const std::string guide = source_text("docs/observability.md");
  for (const YAML::Node& rule : rules_of("dashboards/rules/alerts.yml")) {
    const auto name = rule["alert"].as<std::string>();
    EXPECT_TRUE(std::regex_match(name, std::regex("([A-Z][a-z]+)+"))) << name;
    EXPECT_TRUE(rule["labels"]["severity"]) << name;
    EXPECT_TRUE(rule["annotations"]["summary"] && rule["annotations"]["description"]) << name;
    EXPECT_NE(guide.find("### " + name + "\n"), std::string::npos)
        << "docs/observability.md says nothing of " << name;
  }
}

}  // namespace
}  // namespace headsplit::dashboards
