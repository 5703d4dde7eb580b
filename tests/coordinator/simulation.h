#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/scheduler.h"

/// A coordinator and its agents in one deterministic, seeded simulation: an in-memory store with
/// group commit, connections that drop, duplicate, delay and reorder, agents that die, hang and
/// come back as zombies, and crashes of the coordinator.  The history is checked as it happens.
namespace headsplit::coordinator {

/// What the disk holds: survives a crash of the coordinator.
struct DiskSweep {
  std::shared_ptr<const Plan> plan;
  std::vector<PointProgress> progress;
  std::map<std::string, Row> rows;  ///< by point id
  std::size_t position_of(const std::string& point_id) const;
};

class Simulation {
 public:
  Simulation(std::uint64_t seed, std::vector<std::shared_ptr<const Plan>> plans);

  /// `steps` steps of chaos, then calm until every sweep has ended or hope is lost.
  void run(int steps);

  /// What went wrong, by promise: "P2", "P3", "P4", "P7".
  const std::multimap<std::string, std::string>& violations() const { return violations_; }
  int crashes() const { return crashes_; }
  int grants() const { return static_cast<int>(grants_.size()); }

 private:
  using Attempt = std::pair<std::string, std::int64_t>;  // sweep/point, epoch

  struct Agent {
    std::string name;
    std::int64_t session = 0;  ///< 0 = not connected
    bool paused = false;
    std::vector<Lease> holding;
    std::vector<Row> unacknowledged;
  };

  void chaos_step();
  bool calm();
  void step(const Event& event);
  void carry_out(const Action& action);
  void commit();
  void make_durable(const Action& action);
  void after_commit(const Action& action);
  void store_row(const StoreRow& store);
  void store_attempt(const StoreAttempt& store);
  void send_grant(const GrantLease& grant);
  void acknowledge(const SendAck& send);
  void crash();
  void connect(Agent& agent);
  void disconnect(Agent& agent, bool noticed);
  void work(Agent& agent);
  void deliver_report();
  Row outcome_of(const Lease& lease);
  Agent* agent_of(std::int64_t session);
  DiskSweep& disk_of(const std::string& sweep);
  PointProgress& progress_of(const std::string& sweep, const std::string& point_id);
  bool chance(double probability);
  std::size_t below(std::size_t count);
  void violated(const std::string& promise, const std::string& what);

  std::mt19937_64 random_;
  std::vector<DiskSweep> disk_;
  std::vector<Agent> agents_;
  std::unique_ptr<Scheduler> scheduler_;
  std::vector<Action> writes_;  ///< handed to the store, not durable yet
  std::vector<RowReported> in_flight_;
  TimePoint now_{std::chrono::hours(1)};
  std::int64_t last_session_ = 0;
  bool chaos_ = true;
  int crashes_ = 0;
  std::set<Attempt> grants_;               ///< leases that reached the wire
  std::map<Attempt, Acceptance> settled_;  ///< first answer to a report that settles its point
  std::multimap<std::string, std::string> violations_;
};

}  // namespace headsplit::coordinator
