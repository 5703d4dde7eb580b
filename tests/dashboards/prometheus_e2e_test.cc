// A real Prometheus watches a real sweep: whatever a dashboard or a rule asks for is there.

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <chrono>
#include <regex>
#include <set>

#include "coordinator/metrics/metric_table.h"
#include "dashboards/source/dashboard.h"
#include "tests/dashboards/files.h"
#include "tests/dashboards/promql.h"
#include "tests/dashboards/watched_sweep.h"

namespace headsplit::dashboards {
namespace {

using namespace std::chrono_literals;

/// As Grafana fills them in: all instances of our job, and the one model that was swept.
const std::map<std::string, std::string> kVariables = {
    {"__rate_interval", "20s"}, {"job", "headsplit"},    {"instance", ".+"},  {"agent", ".+"},
    {"model", "deepseek-v3"},   {"kernel", "mla_dense"}, {"kv_dtype", "bf16"}};

class Watched : public testing::Test {
 protected:
  static void SetUpTestSuite() { stack_ = std::make_unique<WatchedSweep>(); }
  static void TearDownTestSuite() { stack_.reset(); }

  /// Expressions that give no number within the time, of those asked.
  static std::set<std::string> without_data(std::set<std::string> exprs,
                                            std::chrono::seconds limit = 25s) {
    eventually(limit, [&] {
      std::erase_if(exprs, [](const std::string& expr) { return stack_->has_data(expr); });
      return exprs.empty();
    });
    return exprs;
  }

  static inline std::unique_ptr<WatchedSweep> stack_;
};

const std::set<std::string> kNothing;

/// Rules of a file by their name.
std::map<std::string, std::string> rules_of(const std::string& file, const std::string& kind) {
  std::map<std::string, std::string> rules;
  for (const YAML::Node& group : YAML::Load(source_text("dashboards/rules/" + file))["groups"]) {
    for (const YAML::Node& rule : group["rules"]) {
      rules[rule[kind].as<std::string>()] = rule["expr"].as<std::string>();
    }
  }
  return rules;
}

TEST_F(Watched, EveryQueryOfEveryDashboardHasData) {
  std::set<std::string> exprs;
  for (const std::string name : {"erosion", "roofline", "sweep", "fleet"}) {
    const std::string text = source_text("dashboards/grafana/dashboards/" + name + ".json");
    for (const PanelQuery& query : queries_of(json::parse(text).as_object())) {
      exprs.insert(with_variables(query.expr, kVariables));
    }
  }
  EXPECT_GT(exprs.size(), 60u);
  EXPECT_EQ(without_data(exprs), kNothing);
  EXPECT_EQ(stack_->failures(), "");
}

TEST_F(Watched, EveryVariableOfEveryDashboardHasValues) {
  const std::regex form(R"(label_values\((.*), (\w+)\))");
  for (const std::string name : {"erosion", "roofline", "sweep", "fleet"}) {
    const std::string text = source_text("dashboards/grafana/dashboards/" + name + ".json");
    const json::value dashboard = json::parse(text);
    for (const auto& variable : dashboard.at("templating").at("list").as_array()) {
      if (variable.at("type") != "query") continue;
      const std::string definition(variable.at("definition").as_string());
      std::smatch match;
      ASSERT_TRUE(std::regex_match(definition, match, form)) << definition;
      const std::string selector = with_variables(match[1], kVariables);
      const auto values = cli::http_json(
          stack_->prometheus(), "GET",
          "/api/v1/label/" + match[2].str() + "/values?match[]=" + cli::url_encoded(selector));
      ASSERT_TRUE(values) << values.error().message;
      EXPECT_FALSE(values->at("data").as_array().empty()) << name << ": " << definition;
    }
  }
}

TEST_F(Watched, EveryRecordingRuleHasData) {
  std::set<std::string> names;
  for (const auto& [name, expr] : rules_of("recording.yml", "record")) names.insert(name);
  EXPECT_GT(names.size(), 10u);
  EXPECT_EQ(without_data(names), kNothing);
}

TEST_F(Watched, EveryAlertAsksForSeriesThatExist) {
  std::set<std::string> selectors;
  for (const auto& [name, expr] : rules_of("alerts.yml", "alert")) {
    for (const Selector& selector : selectors_of(expr)) {
      selectors.insert(selector.metric +
                       (selector.matchers.empty() ? "" : "{" + selector.matchers + "}"));
    }
  }
  EXPECT_GT(selectors.size(), 7u);
  EXPECT_EQ(without_data(selectors), kNothing);
}

// Whether alerts fire is for promtool's unit tests (dashboards/rules): they have a clock of their
// own.
TEST_F(Watched, TheSeriesOfAnAgentThatLeavesEndWithTheNextScrape) {
  const std::string leaving = "headsplit_agent_info{job=\"headsplit\",agent=\"gpu-leaving\"}";
  ASSERT_EQ(without_data({leaving}), kNothing);
  stack_->lose_an_agent();
  // Not when Prometheus' five minutes of lookback are over.
  EXPECT_TRUE(eventually(10s, [&] { return !stack_->has_data(leaving); }));
}

TEST_F(Watched, PrometheusEvaluatesAllRulesWithoutErrors) {
  const auto reply = cli::http_json(stack_->prometheus(), "GET", "/api/v1/rules");
  ASSERT_TRUE(reply) << reply.error().message;
  int rules = 0;
  for (const auto& group : reply->at("data").at("groups").as_array()) {
    for (const auto& rule : group.at("rules").as_array()) {
      EXPECT_EQ(rule.at("health"), "ok") << json::serialize(rule);
      ++rules;
    }
  }
  EXPECT_GT(rules, 20);
}

TEST_F(Watched, EveryMetricOfTheTableIsExported) {
  std::set<std::string> names;
  for (const auto& spec : coordinator::metric_table()) {
    const bool histogram = spec.type == prometheus::MetricType::Histogram;
    names.insert(std::string(spec.name) + (histogram ? "_bucket" : ""));
  }
  EXPECT_EQ(without_data(names), kNothing);
}

TEST_F(Watched, ADotInAPanelLinksToItsRow) {
  const std::string query = "headsplit_kernel_duration_seconds_bucket{job=\"headsplit\"}";
  json::array series;
  EXPECT_TRUE(eventually(10s, [&] {
    const auto reply = cli::http_json(
        stack_->prometheus(), "GET",
        "/api/v1/query_exemplars?start=0&end=9999999999&query=" + cli::url_encoded(query));
    if (reply) series = reply->at("data").as_array();
    return !series.empty();
  }));
  ASSERT_FALSE(series.empty());
  const auto rows =
      cli::http(stack_->coordinator(), "GET", "/api/sweeps/" + stack_->gpu_sweep() + "/rows");
  ASSERT_TRUE(rows) << rows.error().message;
  const std::string prefix = "sweep=" + stack_->gpu_sweep() + "&row=";
  int found = 0;
  for (const auto& one : series) {
    const json::value& exemplar = one.at("exemplars").at(0);
    const std::string row(exemplar.at("labels").at("row").as_string());
    if (!row.starts_with(prefix)) continue;  // of the CPU's sweep
    EXPECT_NE(rows->body.find("\"" + row.substr(prefix.size()) + "\""), std::string::npos) << row;
    ++found;
  }
  EXPECT_GT(found, 0);
}

TEST_F(Watched, TheCoordinatorIsFoundByItsOwnDiscovery) {
  EXPECT_EQ(without_data({"up{job=\"discovered\"} == 1"}), kNothing);
  const auto nodes = cli::http_json(stack_->coordinator(), "GET", "/sd?port=9400");
  ASSERT_TRUE(nodes) << nodes.error().message;
  EXPECT_NE(json::serialize(*nodes).find("\"simulated-node:9400\""), std::string::npos);
}

TEST_F(Watched, PromtoolHasNothingToSayOfTheMetrics) {
  const e2e::Scratch scratch;
  const auto text = cli::http(stack_->coordinator(), "GET", "/metrics");
  ASSERT_TRUE(text && text->status == 200);
  const std::string path = scratch.file("metrics.txt", text->body);
  EXPECT_EQ(std::system(("promtool check metrics < '" + path + "'").c_str()), 0) << text->body;
}

}  // namespace
}  // namespace headsplit::dashboards
