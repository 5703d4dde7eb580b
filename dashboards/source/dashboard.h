#pragma once

#include <boost/json.hpp>
#include <string>
#include <vector>

/// Grafana dashboards as code.  The JSON files in dashboards/grafana/dashboards are written from
/// this; a test compares.  Classic schema, as @grafana/schema 13 has it.
namespace headsplit::dashboards {

namespace json = boost::json;

/// One PromQL query of a panel.  In `expr`, @all stands for the matchers of job and instance, and
/// @layout for those and the ones of model, kernel and KV dtype.
struct Query {
  std::string expr;
  std::string legend;
  bool table = false;      ///< one row a series, of this moment; else a time series
  bool exemplars = false;  ///< show the rows behind it as points
};

struct Panel {
  std::string title;
  std::string description;
  std::string type = "timeseries";
  std::string unit = "none";
  int width = 12;  ///< of 24 columns
  int height = 8;
  std::vector<Query> queries;
  json::object defaults;  ///< of fieldConfig, beside the unit
  json::object options;   ///< of the panel's type
  json::array overrides;
  json::array transformations;
};

/// A choice at the top of a dashboard, filled by a query.
struct Variable {
  std::string name;
  std::string label;
  std::string query;
  bool many = false;  ///< several values at once, or all
};

struct Dashboard {
  std::string uid;
  std::string title;
  std::string description;
  std::vector<Variable> variables;  ///< beside datasource, job and instance
  std::vector<Panel> panels;        ///< laid out in rows, from left to right
};

json::object dashboard_json(const Dashboard& dashboard);

/// JSON with one member a line, two spaces a level, short arrays and objects on one line.
std::string pretty_text(const json::value& value);

Dashboard erosion();
Dashboard roofline();
Dashboard sweep();
Dashboard fleet();

/// File name and text of each.
struct DashboardFile {
  std::string name;
  std::string text;
};
std::vector<DashboardFile> dashboard_files();

// ---- Pieces of panels that several dashboards use ---------------------------------------------

/// Model, kernel and KV dtype, one of each.
std::vector<Variable> layout_variables();

/// `defaults.custom` of a time series whose values span decades.
json::object log_axis(const std::string& label);
json::object linear_axis(const std::string& label);

/// One number, large.
Panel stat(std::string title, std::string description, std::string unit, Query query);

/// Bars by tensor-parallel size; each query is one bar a size, named by its legend.
Panel bars_by_tp(std::string title, std::string description, std::string unit,
                 std::vector<Query> queries);

/// Makes one table of several table queries: rows with equal labels become one.  columns: new
/// names of labels and of the values ("Value #A"), in order; all others are left out.
struct Column {
  std::string field;
  std::string title;
};
json::array joined_table(const std::vector<Column>& columns);

/// Unit of one column of a table.
json::object unit_of_column(const std::string& title, const std::string& unit);

}  // namespace headsplit::dashboards
