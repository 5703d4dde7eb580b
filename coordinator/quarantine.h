#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>

namespace headsplit::coordinator {

struct QuarantineSettings {
  int node_failures_max = 5;  ///< different points failing on a node, none ending well between
  double drain_s = 300;       ///< how long it then gets no work; doubles with each relapse ...
  double drain_max_s = 3600;  ///< ... up to this
  int point_nodes_max = 3;    ///< a point that failed on so many nodes fails for good
};

/// Which nodes are kept from work because attempts keep failing on them.  A drained node is on
/// trial when its time is over: one more failure drains it again, one success clears it.
/// Pure: no clock; not thread-safe.
class Quarantine {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  explicit Quarantine(QuarantineSettings settings) : settings_(settings) {}

  /// An attempt at `what` (a point, or an incident) failed on a node.  True when the node is due to
  /// be drained: call `drain`, or let it go on.
  bool failed(const std::string& node, const std::string& what);
  void succeeded(const std::string& node) { nodes_.erase(node); }
  /// `what` failed on several nodes: it was its own fault, and no node's.
  void forgive(const std::string& what);

  void drain(const std::string& node, TimePoint now);
  /// Puts nodes on trial whose time is over; gives them.
  std::set<std::string> release(TimePoint now);

  bool drained(const std::string& node) const;
  /// "5 points in a row failed on its node", for people; empty when it is not drained.
  std::string reason(const std::string& node) const;
  int drained_count() const;

 private:
  struct Node {
    std::set<std::string> failures;  ///< since the last success
    bool drained = false;
    bool on_trial = false;
    int drains = 0;
    TimePoint until;
  };

  QuarantineSettings settings_;
  std::map<std::string, Node> nodes_;  ///< only those with failures
};

}  // namespace headsplit::coordinator
