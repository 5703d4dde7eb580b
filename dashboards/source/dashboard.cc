#include "dashboards/source/dashboard.h"

namespace headsplit::dashboards {
namespace {

constexpr int kColumns = 24;
constexpr const char* kAll = R"(job=~"$job", instance=~"$instance")";
constexpr const char* kLayout =
    R"(job=~"$job", instance=~"$instance", model=~"$model", kernel=~"$kernel", kv_dtype=~"$kv_dtype")";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

std::string expression(const std::string& expr) {
  return replaced(replaced(expr, "@layout", kLayout), "@all", kAll);
}

json::object datasource() { return {{"type", "prometheus"}, {"uid", "$datasource"}}; }

json::object target_json(const Query& query, int position) {
  json::object target = {{"refId", std::string(1, static_cast<char>('A' + position))},
                         {"datasource", datasource()},
                         {"editorMode", "code"},
                         {"expr", expression(query.expr)},
                         {"legendFormat", query.legend}};
  if (query.table) {
    target["format"] = "table";
    target["instant"] = true;
  } else {
    target["range"] = true;
  }
  if (query.exemplars) target["exemplar"] = true;
  return target;
}

json::object panel_json(const Panel& panel, int id, int x, int y) {
  json::object defaults = {{"unit", panel.unit}};
  for (const auto& [key, value] : panel.defaults) defaults[key] = value;
  json::array targets;
  for (const Query& query : panel.queries) {
    targets.push_back(target_json(query, static_cast<int>(targets.size())));
  }
  return {{"id", id},
          {"type", panel.type},
          {"title", panel.title},
          {"description", panel.description},
          {"datasource", datasource()},
          {"gridPos", {{"x", x}, {"y", y}, {"w", panel.width}, {"h", panel.height}}},
          {"fieldConfig", {{"defaults", defaults}, {"overrides", panel.overrides}}},
          {"options", panel.options},
          {"targets", targets},
          {"transformations", panel.transformations}};
}

json::array panels_json(const std::vector<Panel>& panels) {
  json::array all;
  int x = 0;
  int y = 0;
  int row_height = 0;
  for (const Panel& panel : panels) {
    if (x + panel.width > kColumns) {
      x = 0;
      y += row_height;
      row_height = 0;
    }
    all.push_back(panel_json(panel, static_cast<int>(all.size()) + 1, x, y));
    x += panel.width;
    row_height = std::max(row_height, panel.height);
  }
  return all;
}

json::object variable_json(const Variable& variable) {
  json::object object = {{"name", variable.name},
                         {"label", variable.label},
                         {"type", "query"},
                         {"datasource", datasource()},
                         {"query", {{"query", variable.query}, {"refId", variable.name}}},
                         {"definition", variable.query},
                         {"refresh", 2},
                         {"sort", 1},
                         {"multi", variable.many},
                         {"includeAll", variable.many}};
  if (variable.many) {
    object["allValue"] = ".+";
    object["current"] = {{"text", "All"}, {"value", "$__all"}};
  }
  return object;
}

json::array variables_json(const std::vector<Variable>& variables) {
  json::array list = {{{"name", "datasource"},
                       {"label", "Data source"},
                       {"type", "datasource"},
                       {"query", "prometheus"}}};
  list.push_back(variable_json({.name = "job",
                                .label = "Job",
                                .query = "label_values(headsplit_build_info, job)",
                                .many = true}));
  list.push_back(
      variable_json({.name = "instance",
                     .label = "Instance",
                     .query = R"(label_values(headsplit_build_info{job=~"$job"}, instance))",
                     .many = true}));
  for (Variable variable : variables) {
    variable.query = expression(variable.query);
    list.push_back(variable_json(variable));
  }
  return list;
}

}  // namespace

json::object dashboard_json(const Dashboard& dashboard) {
  const json::object links = {
      {"type", "dashboards"}, {"title", "headsplit"},    {"tags", json::array{"headsplit"}},
      {"asDropdown", false},  {"includeVars", true},     {"keepTime", true},
      {"targetBlank", false}, {"icon", "external link"}, {"tooltip", ""}};
  return {{"uid", dashboard.uid},
          {"id", nullptr},
          {"title", dashboard.title},
          {"description", dashboard.description},
          {"tags", json::array{"headsplit"}},
          {"schemaVersion", 39},
          {"version", 1},
          {"editable", false},
          {"graphTooltip", 1},
          {"timezone", "browser"},
          {"refresh", "10s"},
          {"time", {{"from", "now-1h"}, {"to", "now"}}},
          {"links", json::array{links}},
          {"annotations", {{"list", json::array()}}},
          {"templating", {{"list", variables_json(dashboard.variables)}}},
          {"panels", panels_json(dashboard.panels)}};
}

std::vector<DashboardFile> dashboard_files() {
  std::vector<DashboardFile> files;
  for (const Dashboard& dashboard : {erosion(), roofline(), sweep(), fleet()}) {
    const std::string prefix = "headsplit-";
    files.push_back({dashboard.uid.substr(prefix.size()) + ".json",
                     pretty_text(dashboard_json(dashboard)) + "\n"});
  }
  return files;
}

}  // namespace headsplit::dashboards
