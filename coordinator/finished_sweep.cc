#include "coordinator/finished_sweep.h"

#include <algorithm>

namespace headsplit::coordinator {

std::int64_t& SweepView::of_status(Status status) {
  switch (status) {
    case Status::ok: return ok;
    case Status::failed: return failed;
    case Status::skipped: return skipped;
    case Status::cancelled: return cancelled;
  }
  return failed;
}

FinishedSweep::FinishedSweep(SweepView view, std::vector<Point> points,
                             std::unordered_map<std::string, std::vector<AttemptFailure>> failures)
    : view_(std::move(view)), points_(std::move(points)), failures_(std::move(failures)) {
  std::sort(points_.begin(), points_.end(),
            [](const Point& left, const Point& right) { return left.id < right.id; });
}

const FinishedSweep::Point* FinishedSweep::find(const std::string& point_id) const {
  const auto found =
      std::lower_bound(points_.begin(), points_.end(), point_id,
                       [](const Point& point, const std::string& id) { return point.id < id; });
  return found == points_.end() || found->id != point_id ? nullptr : &*found;
}

const std::vector<AttemptFailure>& FinishedSweep::failures_of(const std::string& point_id) const {
  static const std::vector<AttemptFailure> none;
  const auto found = failures_.find(point_id);
  return found == failures_.end() ? none : found->second;
}

}  // namespace headsplit::coordinator
