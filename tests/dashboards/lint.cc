#include "tests/dashboards/lint.h"

#include <regex>

#include "coordinator/metrics/metric_table.h"
#include "tests/dashboards/files.h"
#include "tests/dashboards/promql.h"

namespace headsplit::dashboards {
namespace {

namespace json = boost::json;
using Findings = std::vector<std::string>;

/// Text of a member, or empty.
std::string text_of(const json::object& object, const std::string& key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

bool is_templated(const json::object& object) {
  const json::value* source = object.if_contains("datasource");
  return source != nullptr && source->is_object() &&
         text_of(source->get_object(), "uid") == "$datasource";
}

const json::object* variable(const json::object& dashboard, const std::string& name) {
  for (const auto& item : dashboard.at("templating").at("list").as_array()) {
    if (text_of(item.as_object(), "name") == name) return &item.as_object();
  }
  return nullptr;
}

void check_datasource(const json::object& dashboard, Findings& findings) {
  int count = 0;
  for (const auto& item : dashboard.at("templating").at("list").as_array()) {
    count += text_of(item.as_object(), "type") == "datasource";
  }
  if (count != 1) findings.push_back("needs exactly one datasource variable");
  const json::object* source = variable(dashboard, "datasource");
  if (source == nullptr || text_of(*source, "label") != "Data source") {
    findings.push_back("the datasource variable is 'datasource', labelled 'Data source'");
  }
}

void check_scrape_variable(const json::object& dashboard, const std::string& name,
                           const std::string& label, Findings& findings) {
  const json::object* found = variable(dashboard, name);
  if (found == nullptr) {
    findings.push_back("no variable " + name);
    return;
  }
  if (text_of(*found, "label") != label) findings.push_back(name + " is labelled " + label);
  if (text_of(*found, "type") != "query") findings.push_back(name + " is no query");
  if (!is_templated(*found)) findings.push_back(name + " does not ask $datasource");
  if (text_of(*found, "allValue") != ".+") findings.push_back(name + ": allValue is not .+");
  if (found->at("multi") != true) findings.push_back(name + " cannot have several values");
}

void check_variables(const json::object& dashboard, Findings& findings) {
  check_datasource(dashboard, findings);
  check_scrape_variable(dashboard, "job", "Job", findings);
  check_scrape_variable(dashboard, "instance", "Instance", findings);
  const std::string all = json::serialize(dashboard.at("panels"));
  for (const auto& item : dashboard.at("templating").at("list").as_array()) {
    const std::string name = text_of(item.as_object(), "name");
    if (all.find("$" + name) == std::string::npos) findings.push_back("$" + name + " is not used");
    if (text_of(item.as_object(), "type") == "query" && item.at("refresh") != 2) {
      findings.push_back("$" + name + " is not read again when the time range changes");
    }
  }
}

bool is_unit(const std::string& unit) {
  static const std::set<std::string> units = {
      "none",  "percentunit", "s",   "bytes", "decbytes", "Bps",         "flops",
      "hertz", "watt",        "ops", "joule", "celsius",  "bool_yes_no", "short"};
  return units.contains(unit);
}

void check_panel(const json::object& panel, Findings& findings) {
  const std::string title = text_of(panel, "title");
  const std::string where = "panel '" + title + "': ";
  if (title.empty()) findings.push_back("a panel without a title");
  if (text_of(panel, "description").empty()) findings.push_back(where + "no description");
  if (!is_templated(panel)) findings.push_back(where + "does not use $datasource");
  const json::object& defaults = panel.at("fieldConfig").at("defaults").as_object();
  if (!is_unit(text_of(defaults, "unit"))) findings.push_back(where + "no unit");
  if (panel.at("targets").as_array().empty()) findings.push_back(where + "no queries");
  for (const auto& target : panel.at("targets").as_array()) {
    if (!is_templated(target.as_object())) findings.push_back(where + "a query of another source");
    if (text_of(panel, "type") == "timeseries" &&
        text_of(target.as_object(), "legendFormat").empty()) {
      findings.push_back(where + "a query without a legend");
    }
  }
}

void check_selector(const Selector& selector, const std::set<std::string>& metrics,
                    const std::string& where, Findings& findings) {
  const std::string what = where + selector.metric;
  if (!metrics.contains(selector.metric)) findings.push_back(what + " does not exist");
  for (const std::string matcher : {R"(job=~"$job")", R"(instance=~"$instance")"}) {
    if (selector.matchers.find(matcher) == std::string::npos) {
      findings.push_back(what + " lacks " + matcher);
    }
  }
  if (selector.metric.ends_with("_total") && !selector.in_rate) {
    findings.push_back(what + " is not inside rate, irate or increase");
  }
  if (!selector.range.empty() && selector.range != "$__rate_interval") {
    findings.push_back(what + " is not over $__rate_interval");
  }
}

using Box = std::array<std::int64_t, 4>;

Box box_of(const json::object& panel) {
  const auto at = [&](const char* key) { return panel.at("gridPos").at(key).as_int64(); };
  return {at("x"), at("y"), at("w"), at("h")};
}

bool overlap(const Box& a, const Box& b) {
  return a[0] < b[0] + b[2] && b[0] < a[0] + a[2] && a[1] < b[1] + b[3] && b[1] < a[1] + a[3];
}

void check_grid(const json::array& panels, Findings& findings) {
  std::set<std::int64_t> ids;
  std::vector<Box> boxes;
  for (const auto& panel : panels) {
    if (!ids.insert(panel.at("id").as_int64()).second) findings.push_back("two panels of one id");
    const Box box = box_of(panel.as_object());
    if (box[0] + box[2] > 24) findings.push_back("a panel beyond the 24 columns");
    for (const Box& other : boxes) {
      if (overlap(box, other)) findings.push_back("two panels in one place");
    }
    boxes.push_back(box);
  }
}

}  // namespace

std::vector<std::string> lint(const json::object& dashboard, const std::set<std::string>& metrics) {
  Findings findings;
  if (dashboard.at("editable") != false) findings.push_back("is editable");
  if (!dashboard.at("id").is_null()) findings.push_back("has an id of some Grafana");
  const std::string uid = text_of(dashboard, "uid");
  if (!std::regex_match(uid, std::regex("headsplit-[a-z]{1,30}")))
    findings.push_back("no fixed uid");
  if (dashboard.at("schemaVersion").as_int64() < 39) findings.push_back("an old schema");
  if (text_of(dashboard, "description").empty()) findings.push_back("no description");
  check_variables(dashboard, findings);
  check_grid(dashboard.at("panels").as_array(), findings);
  for (const auto& panel : dashboard.at("panels").as_array()) {
    check_panel(panel.as_object(), findings);
  }
  for (const PanelQuery& query : queries_of(dashboard)) {
    const std::string where = "panel '" + query.panel + "': ";
    const auto selectors = selectors_of(query.expr);
    if (selectors.empty()) findings.push_back(where + "a query of nothing of ours");
    for (const Selector& selector : selectors) {
      check_selector(selector, metrics, where, findings);
    }
  }
  return findings;
}

std::set<std::string> known_metrics() {
  std::set<std::string> names = {"up"};
  for (const auto& spec : coordinator::metric_table()) {
    const std::string name(spec.name);
    if (spec.type != prometheus::MetricType::Histogram) {
      names.insert(name);
      continue;
    }
    for (const char* suffix : {"_bucket", "_sum", "_count"}) names.insert(name + suffix);
  }
  const std::string rules = source_text("dashboards/rules/recording.yml");
  static const std::regex record(R"(record: (\S+))");
  for (std::sregex_iterator match(rules.begin(), rules.end(), record), end; match != end; ++match) {
    names.insert((*match)[1]);
  }
  return names;
}

}  // namespace headsplit::dashboards
