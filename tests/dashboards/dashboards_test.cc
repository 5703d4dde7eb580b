#include <gtest/gtest.h>

#include <functional>

#include "dashboards/source/dashboard.h"
#include "tests/dashboards/files.h"
#include "tests/dashboards/lint.h"
#include "tests/dashboards/promql.h"

namespace headsplit::dashboards {
namespace {

using Findings = std::vector<std::string>;

TEST(Dashboards, AreWhatTheirSourceMakes) {
  for (const DashboardFile& file : dashboard_files()) {
    expect_generated("dashboards/grafana/dashboards/" + file.name, file.text);
  }
}

TEST(Dashboards, KeepTheRulesOfTheDashboardLinter) {
  const std::set<std::string> metrics = known_metrics();
  for (const DashboardFile& file : dashboard_files()) {
    EXPECT_EQ(lint(json::parse(file.text).as_object(), metrics), Findings()) << file.name;
  }
}

TEST(Dashboards, HaveUidsThatStay) {
  std::vector<std::string> uids;
  for (const Dashboard& dashboard : {erosion(), roofline(), sweep(), fleet()}) {
    uids.push_back(dashboard.uid);
  }
  EXPECT_EQ(uids, (std::vector<std::string>{"headsplit-erosion", "headsplit-roofline",
                                            "headsplit-sweep", "headsplit-fleet"}));
}

/// Findings in a dashboard of ours after something in it was broken.
Findings findings_after(const std::function<void(json::object&)>& breaking) {
  json::object dashboard = dashboard_json(fleet());
  breaking(dashboard);
  return lint(dashboard, known_metrics());
}

/// The same after its first query was changed.
Findings findings_of_query(const std::string& expr) {
  return findings_after([&](json::object& dashboard) {
    dashboard["panels"].as_array()[0].as_object()["targets"].as_array()[0].as_object()["expr"] =
        expr;
  });
}

TEST(DashboardRules, FindQueriesWithoutTheMatchers) {
  EXPECT_EQ(findings_of_query(R"(headsplit_leases{job=~"$job"})").size(), 1u);
  EXPECT_EQ(findings_of_query("headsplit_leases").size(), 2u);
  EXPECT_EQ(findings_of_query(R"(headsplit_leases{job=~"$job", instance=~"$instance"})").size(),
            0u);
}

TEST(DashboardRules, FindCountersWithoutARateAndFixedIntervals) {
  const std::string matchers = R"({job=~"$job", instance=~"$instance"})";
  EXPECT_EQ(findings_of_query("sum(headsplit_attempts_total" + matchers + ")").size(), 1u);
  EXPECT_EQ(findings_of_query("rate(headsplit_attempts_total" + matchers + "[5m])").size(), 1u);
  EXPECT_EQ(findings_of_query("rate(headsplit_attempts_total" + matchers + "[$__rate_interval])"),
            Findings());
}

TEST(DashboardRules, FindMetricsThatNobodyExports) {
  const std::string matchers = R"({job=~"$job", instance=~"$instance"})";
  EXPECT_EQ(findings_of_query("headsplit_no_such_thing" + matchers).size(), 1u);
  EXPECT_EQ(findings_of_query("instance:headsplit_no_such_rule:avg" + matchers).size(), 1u);
  EXPECT_EQ(findings_of_query("vector(1)").size(), 1u);
}

TEST(DashboardRules, FindWhatGrafanaWouldTrip) {
  const auto broken = [](const std::function<void(json::object&)>& breaking) {
    return !findings_after(breaking).empty();
  };
  const auto panel = [](json::object& dashboard) -> json::object& {
    return dashboard["panels"].as_array()[0].as_object();
  };
  const auto variables = [](json::object& dashboard) -> json::array& {
    return dashboard["templating"].as_object()["list"].as_array();
  };
  EXPECT_TRUE(broken([](auto& dashboard) { dashboard["editable"] = true; }));
  EXPECT_TRUE(broken([](auto& dashboard) { dashboard["uid"] = "a1b2c3"; }));
  EXPECT_TRUE(broken([](auto& dashboard) { dashboard["id"] = 7; }));
  EXPECT_TRUE(broken([&](auto& dashboard) { panel(dashboard)["title"] = ""; }));
  EXPECT_TRUE(broken([&](auto& dashboard) { panel(dashboard)["description"] = ""; }));
  EXPECT_TRUE(broken([&](auto& dashboard) { panel(dashboard)["id"] = 2; }));
  EXPECT_TRUE(broken([&](auto& dashboard) { panel(dashboard)["targets"] = json::array(); }));
  EXPECT_TRUE(broken([&](auto& dashboard) {
    panel(dashboard)["datasource"].as_object()["uid"] = "my-prometheus";
  }));
  EXPECT_TRUE(broken([&](auto& dashboard) {
    panel(dashboard)["fieldConfig"].as_object()["defaults"].as_object()["unit"] = "furlong";
  }));
  EXPECT_TRUE(broken([&](auto& dashboard) { panel(dashboard)["gridPos"].as_object()["w"] = 12; }));
  EXPECT_TRUE(broken([&](auto& dashboard) { variables(dashboard)[0].as_object()["name"] = "ds"; }));
  EXPECT_TRUE(
      broken([&](auto& dashboard) { variables(dashboard)[1].as_object()["multi"] = false; }));
  EXPECT_TRUE(broken([&](auto& dashboard) { variables(dashboard)[2].as_object()["refresh"] = 1; }));
  EXPECT_TRUE(broken(
      [&](auto& dashboard) { variables(dashboard)[3].as_object()["name"] = "nobody_asks"; }));
}

TEST(PromQl, SelectorsAreFoundWithTheirMatchersAndRates) {
  const auto found = selectors_of(
      R"(sum by (le) (rate(headsplit_a_bucket{tp="1"}[5m])) / level:headsplit_b:sum{x="y"} + up)");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].metric, "headsplit_a_bucket");
  EXPECT_EQ(found[0].matchers, R"(tp="1")");
  EXPECT_EQ(found[0].range, "5m");
  EXPECT_TRUE(found[0].in_rate);
  EXPECT_EQ(found[1].metric, "level:headsplit_b:sum");
  EXPECT_FALSE(found[1].in_rate);
  EXPECT_EQ(found[2].metric, "up");
}

}  // namespace
}  // namespace headsplit::dashboards
