#pragma once

#include <boost/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace headsplit::dashboards {

/// What is wrong with a dashboard, one line a finding: the rules of grafana/dashboard-linter that
/// hold for Prometheus dashboards, and those of the classic schema that a file can break.
/// metrics: every name that a query may ask for.
std::vector<std::string> lint(const boost::json::object& dashboard,
                              const std::set<std::string>& metrics);

/// Names that a coordinator exports (a histogram's samples one by one) and that the rules record.
std::set<std::string> known_metrics();

}  // namespace headsplit::dashboards
