#include "coordinator/quarantine.h"

#include <algorithm>
#include <cmath>

#include "core/result.h"

namespace headsplit::coordinator {

bool Quarantine::failed(const std::string& node, const std::string& what) {
  Node& state = nodes_[node];
  if (state.drained) return false;  // what it still had in its hands
  state.failures.insert(what);
  return state.on_trial || static_cast<int>(state.failures.size()) >= settings_.node_failures_max;
}

void Quarantine::forgive(const std::string& what) {
  for (auto at = nodes_.begin(); at != nodes_.end();) {
    Node& node = at->second;
    node.failures.erase(what);
    const bool blameless = node.failures.empty() && !node.drained && !node.on_trial;
    at = blameless ? nodes_.erase(at) : std::next(at);
  }
}

void Quarantine::drain(const std::string& node, TimePoint now) {
  Node& state = nodes_[node];
  const double drain_s =
      std::min(settings_.drain_s * std::pow(2.0, state.drains), settings_.drain_max_s);
  state.drained = true;
  state.on_trial = false;
  ++state.drains;
  state.until =
      now + std::chrono::duration_cast<TimePoint::duration>(std::chrono::duration<double>(drain_s));
}

std::set<std::string> Quarantine::release(TimePoint now) {
  std::set<std::string> released;
  for (auto& [name, node] : nodes_) {
    if (!node.drained || node.until > now) continue;
    node.drained = false;
    node.on_trial = true;
    released.insert(name);
  }
  return released;
}

bool Quarantine::drained(const std::string& node) const {
  const auto found = nodes_.find(node);
  return found != nodes_.end() && found->second.drained;
}

std::string Quarantine::reason(const std::string& node) const {
  if (!drained(node)) return "";
  const auto failures = nodes_.at(node).failures.size();
  return str("its node is drained: ", failures, failures == 1 ? " point" : " points",
             " failed there and none ended well");
}

int Quarantine::drained_count() const {
  return static_cast<int>(std::count_if(nodes_.begin(), nodes_.end(),
                                        [](const auto& entry) { return entry.second.drained; }));
}

}  // namespace headsplit::coordinator
