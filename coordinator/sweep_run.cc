#include "coordinator/sweep_run.h"

#include <algorithm>

#include "core/check.h"

namespace headsplit::coordinator {

AttemptFailure* PointRun::failure_of(std::int64_t failed_epoch) {
  const auto found =
      std::find_if(failures.begin(), failures.end(),
                   [&](const AttemptFailure& failure) { return failure.epoch == failed_epoch; });
  return found == failures.end() ? nullptr : &*found;
}

SweepRun::SweepRun(std::shared_ptr<const Plan> plan, const std::vector<PointProgress>& progress,
                   std::string backend)
    : plan_(std::move(plan)), points_(plan_->points.size()), queued_as_(plan_->points.size()) {
  CHECK(progress.empty() || progress.size() == points_.size());
  view_.id = plan_->id;
  view_.name = plan_->name;
  view_.backend = std::move(backend);
  view_.points = static_cast<std::int64_t>(points_.size());
  positions_.reserve(points_.size());
  for (std::size_t at = 0; at < points_.size(); ++at) {
    positions_.emplace(planned(at).id, at);
    PointRun& point = points_[at];
    if (!progress.empty()) {
      point.epoch = progress[at].epoch;
      point.failures = progress[at].failures;
    }
    if (!progress.empty() && progress[at].state == PointState::done) {
      point.state = PointState::done;
      point.status = progress[at].status;
      ++row_count(point.status);
      view_.resumed += progress[at].resumed ? 1 : 0;
    } else {
      ++view_.pending;
      queued_as_[at] = point.failures.size();
      queue_.emplace(queued_as_[at], at);
    }
  }
}

std::optional<std::size_t> SweepRun::position_of(const std::string& point_id) const {
  const auto found = positions_.find(point_id);
  if (found == positions_.end()) return std::nullopt;
  return found->second;
}

std::int64_t& SweepRun::row_count(Status status) {
  switch (status) {
    case Status::ok: return view_.ok;
    case Status::failed: return view_.failed;
    case Status::skipped: return view_.skipped;
    case Status::cancelled: return view_.cancelled;
  }
  return view_.failed;
}

void SweepRun::leave_state(std::size_t at) {
  PointRun& point = points_[at];
  CHECK(point.state != PointState::done);
  if (point.state == PointState::pending) {
    queue_.erase({queued_as_[at], at});
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
  point.attempt = std::move(attempt);
  ++point.epoch;
  ++view_.running;
}

void SweepRun::wait_again(std::size_t at) {
  leave_state(at);
  points_[at].state = PointState::pending;
  ++view_.pending;
  queued_as_[at] = points_[at].failures.size();
  queue_.emplace(queued_as_[at], at);
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
  ++row_count(point.status);
  return std::exchange(point.waiting, {});
}

FinishedSweep finished_sweep(SweepRun& run) {
  FinishedSweep finished{.view = run.view(), .points = {}};
  const std::vector<PlannedPoint>& planned = run.plan().points;
  finished.points.reserve(planned.size());
  for (std::size_t at = 0; at < planned.size(); ++at) {
    PointRun& point = run.point(at);
    finished.points.emplace(planned[at].id,
                            FinishedSweep::Point{point.epoch, std::move(point.failures)});
  }
  return finished;
}

}  // namespace headsplit::coordinator
