#include "tests/dashboards/promql.h"

#include <regex>
#include <set>

namespace headsplit::dashboards {
namespace {

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

/// The word that stands before the opening parenthesis right before `end`.
std::string function_before(const std::string& expr, std::size_t end) {
  static const std::regex call(R"((\w+)\s*\(\s*$)");
  std::smatch match;
  const std::string before = expr.substr(0, end);
  return std::regex_search(before, match, call) ? match[1].str() : "";
}

}  // namespace

std::vector<Selector> selectors_of(const std::string& expr) {
  // A recorded name, or one of ours, or `up`; then matchers in braces, then a range.
  const std::string name =
      R"([a-z]+:(?:headsplit|process)_[\w:]+|\b(?:headsplit_|process_)\w+|\bup\b)";
  const std::regex pattern("(" + name + R"()(?:\s*\{([^}]*)\})?(?:\[([^\]]*)\])?)");
  static const std::set<std::string> rates = {"rate", "irate", "increase"};
  std::vector<Selector> found;
  for (std::sregex_iterator match(expr.begin(), expr.end(), pattern), end; match != end; ++match) {
    Selector selector{.metric = (*match)[1], .matchers = (*match)[2], .range = (*match)[3]};
    const auto position = static_cast<std::size_t>(match->position());
    selector.in_rate = !selector.range.empty() && rates.contains(function_before(expr, position));
    found.push_back(std::move(selector));
  }
  return found;
}

std::string with_variables(std::string expr, const std::map<std::string, std::string>& values) {
  for (const auto& [name, value] : values) expr = replaced(expr, "$" + name, value);
  return expr;
}

std::vector<PanelQuery> queries_of(const boost::json::object& dashboard) {
  std::vector<PanelQuery> queries;
  for (const auto& panel : dashboard.at("panels").as_array()) {
    for (const auto& target : panel.at("targets").as_array()) {
      queries.push_back({.dashboard = std::string(dashboard.at("title").as_string()),
                         .panel = std::string(panel.at("title").as_string()),
                         .panel_type = std::string(panel.at("type").as_string()),
                         .expr = std::string(target.at("expr").as_string())});
    }
  }
  return queries;
}

}  // namespace headsplit::dashboards
