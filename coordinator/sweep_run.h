#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordinator/point_positions.h"
#include "coordinator/scheduler.h"
#include "coordinator/waiting_points.h"

/// The scheduler's memory of one sweep; used by scheduler*.cc only.
namespace headsplit::coordinator {

/// An agent of an attempt; in a gang, that of one rank.
struct AttemptMember {
  std::int64_t session = 0;
  std::string agent;
  std::optional<RankContact> contact;  ///< once the rank is ready
  std::optional<Row> part;             ///< once it has reported
};

/// A point in somebody's hands.
struct Attempt {
  std::vector<AttemptMember> members;  ///< by rank; one, where there is no gang
  TimePoint expires;
  TimePoint granted;
  std::optional<TimePoint> gone;  ///< when a gang was told to go
};

/// A session to acknowledge when a row is durable.
struct Waiting {
  std::int64_t session = 0;
  bool repeats = false;  ///< it had reported that before
};

/// What went wrong with a point, if anything did.
struct PointTroubles {
  std::vector<AttemptFailure> failures;
  std::vector<std::string> failed_on;    ///< agents of attempts that failed in this process
  std::set<std::string> failed_nodes;    ///< their nodes
  std::optional<TimePoint> short_since;  ///< a gang: too few agents are connected for it

  /// The failure of that epoch; null when there is none.
  AttemptFailure* failure_of(std::int64_t epoch);
};

/// Where one point stands, durable or not.  A sweep may have a million: what few have, and what
/// they have for a short time, is kept apart.
struct PointRun {
  PointState state = PointState::pending;
  Status status = Status::failed;
  bool storing = false;  ///< done, but its row is not durable yet
  std::int64_t epoch = 0;
  std::unique_ptr<Attempt> attempt;  ///< while running
  std::vector<Waiting> waiting;

  const PointTroubles& troubles() const;
  /// To be added to.
  PointTroubles& add_troubles();

 private:
  std::unique_ptr<PointTroubles> troubles_;
};

/// A sweep with open points.  Keeps the queue and the counts in step with the states.
class SweepRun {
 public:
  SweepRun(std::shared_ptr<const Plan> plan, const std::vector<PointProgress>& progress,
           std::string backend);

  const Plan& plan() const { return *plan_; }
  const PlannedPoint& planned(std::size_t at) const { return plan_->points[at]; }
  PointRun& point(std::size_t at) { return points_[at]; }
  std::optional<std::size_t> position_of(const std::string& point_id) const;
  const SweepView& view() const { return view_; }
  bool finished() const { return view_.done() == view_.points; }
  /// It takes a gang, even one of a single rank.
  bool is_gang(std::size_t at) const { return planned(at).point.ranks == Ranks::real; }
  bool serves(const AgentInfo& agent) const {
    return view_.backend.empty() || view_.backend == agent.backend;
  }

  const WaitingPoints& queue() const { return queue_; }

  /// pending -> running, with the next epoch.
  void start(std::size_t at, Attempt attempt);
  /// running or pending -> pending; call after its failures have changed, too.
  void wait_again(std::size_t at);
  /// running or pending -> done, not durable yet.
  void decide(std::size_t at, Status status);
  /// The row is durable.  Gives who waits for it.
  std::vector<Waiting> stored(std::size_t at);

 private:
  void leave_state(std::size_t at);
  void enqueue(std::size_t at);

  std::shared_ptr<const Plan> plan_;
  std::vector<PointRun> points_;
  std::vector<std::uint8_t> queued_as_;  ///< failures each waiting point is queued under
  PointPositions positions_;
  WaitingPoints queue_;
  SweepView view_;
};

/// What is kept of it when it has ended.
FinishedSweep finished_sweep(SweepRun& run);

}  // namespace headsplit::coordinator
