#include "coordinator/sweep_run.h"

#include <algorithm>

#include "core/check.h"

namespace headsplit::coordinator {

AttemptFailure* PointTroubles::failure_of(std::int64_t epoch) {
  const auto found =
      std::find_if(failures.begin(), failures.end(),
                   [&](const AttemptFailure& failure) { return failure.epoch == epoch; });
  return found == failures.end() ? nullptr : &*found;
}

const PointTroubles& PointRun::troubles() const {
  static const PointTroubles none;
  return troubles_ ? *troubles_ : none;
}

PointTroubles& PointRun::add_troubles() {
  if (!troubles_) troubles_ = std::make_unique<PointTroubles>();
  return *troubles_;
}

SweepRun::SweepRun(std::shared_ptr<const Plan> plan, const std::vector<PointProgress>& progress,
                   std::string backend)
    : plan_(std::move(plan)),
      points_(plan_->points.size()),
      queued_as_(plan_->points.size()),
      positions_(plan_->points),
      queue_(plan_->points.size()) {
  CHECK(progress.empty() || progress.size() == points_.size());
  view_.id = plan_->id;
  view_.name = plan_->name;
  view_.backend = std::move(backend);
  view_.points = static_cast<std::int64_t>(points_.size());
  for (std::size_t at = 0; at < points_.size(); ++at) {
    PointRun& point = points_[at];
    if (!progress.empty()) {
      point.epoch = progress[at].epoch;
      if (!progress[at].failures.empty()) point.add_troubles().failures = progress[at].failures;
    }
    if (!progress.empty() && progress[at].state == PointState::done) {
      point.state = PointState::done;
      point.status = progress[at].status;
      ++view_.of_status(point.status);
      view_.resumed += progress[at].resumed ? 1 : 0;
    } else {
      enqueue(at);
    }
  }
}

std::optional<std::size_t> SweepRun::position_of(const std::string& point_id) const {
  return positions_.find(point_id);
}

void SweepRun::enqueue(std::size_t at) {
  ++view_.pending;
  // Behind this many failures the order does not matter any more.
  constexpr std::size_t kFailuresMax = 255;
  const std::size_t failures = std::min(points_[at].troubles().failures.size(), kFailuresMax);
  queued_as_[at] = static_cast<std::uint8_t>(failures);
  queue_.add(at, failures);
}

void SweepRun::leave_state(std::size_t at) {
  PointRun& point = points_[at];
  CHECK(point.state != PointState::done);
  if (point.state == PointState::pending) {
    queue_.remove(at, queued_as_[at]);
    --view_.pending;
  } else {
    point.attempt.reset();
    --view_.running;
  }
}

void SweepRun::start(std::size_t at, Attempt attempt) {
  leave_state(at);
  PointRun& point = points_[at];
  point.state = PointState::running;
  point.attempt = std::make_unique<Attempt>(std::move(attempt));
  ++point.epoch;
  ++view_.running;
}

void SweepRun::wait_again(std::size_t at) {
  leave_state(at);
  points_[at].state = PointState::pending;
  enqueue(at);
}

void SweepRun::decide(std::size_t at, Status status) {
  leave_state(at);
  PointRun& point = points_[at];
  point.state = PointState::done;
  point.status = status;
  point.storing = true;
  ++view_.storing;
}

std::vector<Waiting> SweepRun::stored(std::size_t at) {
  PointRun& point = points_[at];
  CHECK(point.storing);
  point.storing = false;
  --view_.storing;
  ++view_.of_status(point.status);
  return std::exchange(point.waiting, {});
}

FinishedSweep finished_sweep(SweepRun& run) {
  const std::vector<PlannedPoint>& planned = run.plan().points;
  std::vector<FinishedSweep::Point> points;
  std::unordered_map<std::string, std::vector<AttemptFailure>> failures;
  points.reserve(planned.size());
  for (std::size_t at = 0; at < planned.size(); ++at) {
    const PointRun& point = run.point(at);
    points.push_back({planned[at].id, point.epoch});
    const auto& failed = point.troubles().failures;
    if (!failed.empty()) failures[planned[at].id] = failed;
  }
  return FinishedSweep(run.view(), std::move(points), std::move(failures));
}

}  // namespace headsplit::coordinator
