#include "coordinator/metrics/discovery.h"

#include <algorithm>
#include <set>

namespace headsplit::coordinator {
namespace {

/// A name or address as it may stand in a target, so that nobody's text becomes another URL.
bool is_host(const std::string& text) {
  return !text.empty() && text.size() <= 255 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view(".-_:[]").find(c) != std::string_view::npos;
  });
}

}  // namespace

json::array coordinator_targets(const std::string& host) {
  if (!is_host(host)) return {};
  const json::object group = {{"targets", json::array{host}}, {"labels", json::object()}};
  return json::array{group};
}

json::array node_targets(const std::vector<std::string>& nodes, int port) {
  json::array groups;
  for (const std::string& node : std::set<std::string>(nodes.begin(), nodes.end())) {
    if (!is_host(node)) continue;
    const json::object labels = {{"node", node}};
    groups.push_back({{"targets", json::array{str(node, ":", port)}}, {"labels", labels}});
  }
  return groups;
}

}  // namespace headsplit::coordinator
