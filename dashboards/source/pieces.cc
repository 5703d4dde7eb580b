#include "dashboards/source/dashboard.h"

namespace headsplit::dashboards {

std::vector<Variable> layout_variables() {
  const std::string from = "label_values(headsplit_layout_time_seconds{@all}, ";
  return {{.name = "model", .label = "Model", .query = from + "model)"},
          {.name = "kernel", .label = "Kernel", .query = from + "kernel)"},
          {.name = "kv_dtype", .label = "KV dtype", .query = from + "kv_dtype)"}};
}

json::object log_axis(const std::string& label) {
  return {{"custom",
           {{"axisLabel", label},
            {"lineWidth", 2},
            {"showPoints", "auto"},
            {"scaleDistribution", {{"type", "log"}, {"log", 10}}}}}};
}

json::object linear_axis(const std::string& label) {
  return {{"min", 0}, {"custom", {{"axisLabel", label}, {"lineWidth", 2}, {"showPoints", "auto"}}}};
}

Panel stat(std::string title, std::string description, std::string unit, Query query) {
  return {.title = std::move(title),
          .description = std::move(description),
          .type = "stat",
          .unit = std::move(unit),
          .width = 4,
          .height = 4,
          .queries = {std::move(query)},
          .options = {{"reduceOptions", {{"calcs", json::array{"lastNotNull"}}}},
                      {"graphMode", "none"}}};
}

json::array joined_table(const std::vector<Column>& columns) {
  json::object order;
  json::object names;
  json::array kept;
  for (const Column& column : columns) {
    order[column.field] = order.size();
    names[column.field] = column.title;
    kept.push_back(json::value(column.field));
  }
  return {{{"id", "merge"}, {"options", json::object()}},
          {{"id", "filterFieldsByName"}, {"options", {{"include", {{"names", kept}}}}}},
          {{"id", "organize"}, {"options", {{"indexByName", order}, {"renameByName", names}}}}};
}

json::object unit_of_column(const std::string& title, const std::string& unit) {
  return {{"matcher", {{"id", "byName"}, {"options", title}}},
          {"properties", {{{"id", "unit"}, {"value", unit}}}}};
}

Panel bars_by_tp(std::string title, std::string description, std::string unit,
                 std::vector<Query> queries) {
  std::vector<Column> columns = {{"tp", "TP"}};
  for (std::size_t i = 0; i < queries.size(); ++i) {
    // A single query's values are plainly called "Value".
    const std::string letter(1, static_cast<char>('A' + i));
    columns.push_back({queries.size() == 1 ? "Value" : "Value #" + letter, queries[i].legend});
    queries[i].table = true;
  }
  json::array steps = joined_table(columns);
  // By size as a number, and then as text again: the axis of a bar chart is of words.
  const auto convert = [](const std::string& type) -> json::value {
    const json::object conversion = {{"targetField", "TP"}, {"destinationType", type}};
    return {{"id", "convertFieldType"}, {"options", {{"conversions", json::array{conversion}}}}};
  };
  const json::object by_size = {{"field", "TP"}, {"desc", false}};
  steps.push_back(convert("number"));
  steps.push_back({{"id", "sortBy"}, {"options", {{"sort", json::array{by_size}}}}});
  steps.push_back(convert("string"));
  return {.title = std::move(title),
          .description = std::move(description),
          .type = "barchart",
          .unit = std::move(unit),
          .queries = std::move(queries),
          .defaults = {{"min", 0}, {"custom", {{"axisLabel", ""}, {"fillOpacity", 80}}}},
          .options = {{"xField", "TP"}, {"showValue", "always"}},
          .transformations = std::move(steps)};
}

}  // namespace headsplit::dashboards
