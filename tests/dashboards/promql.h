#pragma once

#include <boost/json.hpp>
#include <map>
#include <string>
#include <vector>

namespace headsplit::dashboards {

/// One vector selector of a PromQL expression.
struct Selector {
  std::string metric;
  std::string matchers;  ///< what stands between the braces; empty when there are none
  bool in_rate = false;  ///< directly inside rate, irate or increase, with a range
  std::string range;     ///< "5m", or empty for an instant vector
};

/// The selectors whose metric names start with headsplit_, process_ or up, or that have a level as
/// recording rules do.
std::vector<Selector> selectors_of(const std::string& expr);

/// The expression as Grafana sends it: variables replaced by values (or ".+" for all).
std::string with_variables(std::string expr, const std::map<std::string, std::string>& values);

/// A query of a dashboard's panel.
struct PanelQuery {
  std::string dashboard;
  std::string panel;
  std::string panel_type;
  std::string expr;
};
std::vector<PanelQuery> queries_of(const boost::json::object& dashboard);

}  // namespace headsplit::dashboards
