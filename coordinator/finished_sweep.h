#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "coordinator/progress.h"

namespace headsplit::coordinator {

/// What is kept of a sweep that ended: enough to answer a report that is sent again.  A sweep may
/// have a million points, so that little is kept of each.
class FinishedSweep {
 public:
  struct Point {
    std::string id;
    std::int64_t epoch = 0;  ///< of its latest attempt
  };

  FinishedSweep() = default;
  /// points: in any order.  failures: by point id, those that count against limits.attempts.
  FinishedSweep(SweepView view, std::vector<Point> points,
                std::unordered_map<std::string, std::vector<AttemptFailure>> failures);

  const SweepView& view() const { return view_; }
  const std::vector<Point>& points() const { return points_; }  ///< by id
  /// Null when the sweep has no such point.
  const Point* find(const std::string& point_id) const;
  const std::vector<AttemptFailure>& failures_of(const std::string& point_id) const;

 private:
  SweepView view_;
  std::vector<Point> points_;
  std::unordered_map<std::string, std::vector<AttemptFailure>> failures_;
};

}  // namespace headsplit::coordinator
