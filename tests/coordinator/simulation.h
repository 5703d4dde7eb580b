#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "coordinator/scheduler.h"
#include "coordinator/store_tables.h"
#include "core/message.h"
#include "tests/coordinator/history.h"

/// A coordinator and its agents in one deterministic, seeded simulation.  The scheduler and the
/// store's tables are the real ones; clock, network, disk and agents are simulated: messages are
/// lost, repeated, late and out of order, agents die, hang, are cut off and come back, and the
/// coordinator crashes before, between and after commits.  What happens is kept as a history.
namespace headsplit::coordinator {

/// The store's real SQL over a database in memory.  A transaction is whole or not at all.
class SimulatedDisk {
 public:
  SimulatedDisk();
  void begin_sweep(const Plan& plan);
  /// What a coordinator that starts finds.
  RestoredSweeps restore();
  /// Writes records in one transaction, in which the coordinator may die after `dies_after` of
  /// them: then nothing is written.  Gives the first refusal: the scheduler asked for what cannot
  /// be.
  Result<void> commit(const std::vector<StoreWrite>& records,
                      std::optional<std::size_t> dies_after);

 private:
  Database database_;
  std::optional<StoreTables> tables_;
};

class Simulation {
 public:
  Simulation(std::uint64_t seed, const std::vector<std::shared_ptr<const Plan>>& plans);

  /// `steps` steps of chaos, then calm until every sweep has ended or hope is lost.
  void run(int steps);

  const History& history() const { return history_; }
  int crashes() const { return crashes_; }
  int grants() const { return grants_; }

 private:
  /// An action that waits for the disk.
  using Write = std::variant<GrantLease, GrantGang, StoreRow, StoreAttempt>;

  struct Agent {
    std::string name;
    std::int64_t session = 0;  ///< as the agent believes; 0 = not connected
    bool paused = false;
    bool cut_off = false;  ///< nothing passes, and nobody is told
    std::optional<Lease> holding;
    bool ready = false;
    bool gone = false;
    std::vector<Row> spool;
  };
  /// From an agent to the coordinator, or back.
  struct Letter {
    std::int64_t session = 0;
    std::variant<Report, Ready, Grant, Ack, Cancel, Go> body;
  };

  // The world.
  void chaos_step();
  bool calm_step();
  void crash();
  void connect(Agent& agent);
  void disconnect(Agent& agent, bool noticed);
  void die(Agent& agent);
  void work(Agent& agent);
  void report(Agent& agent, const Row& row);
  Row outcome_of(const Lease& lease);
  void deliver_up();
  void deliver_down();
  void read(Agent& agent, const Letter& letter);
  Agent* agent_of(std::int64_t session);

  // The coordinator.
  void step(const Event& event);
  void carry_out(const Action& action);
  void commit();
  void after_commit(const Write& write);
  void send(std::int64_t session, Letter letter);
  void note_answer(const Ack& ack, std::int64_t session);

  HistoryEntry& note(HistoryEntry::Kind kind, const std::string& sweep = "",
                     const std::string& point_id = "", std::int64_t epoch = 0);
  bool chance(double probability);
  std::size_t below(std::size_t count);

  std::mt19937_64 random_;
  std::vector<std::shared_ptr<const Plan>> plans_;
  SimulatedDisk disk_;
  std::vector<Agent> agents_;
  std::map<std::int64_t, std::size_t> connected_;  ///< as the coordinator believes
  std::unique_ptr<Scheduler> scheduler_;
  std::vector<Write> writes_;  ///< handed to the store, not durable yet
  std::vector<Letter> up_;
  std::vector<Letter> down_;
  /// Whether what an agent reported settles the point; by sweep/point, epoch, agent.
  std::map<std::tuple<std::string, std::int64_t, std::size_t>, bool> settles_;
  History history_;
  TimePoint now_{std::chrono::hours(1)};
  std::int64_t last_session_ = 0;
  bool chaos_ = true;
  int crashes_ = 0;
  int grants_ = 0;
};

}  // namespace headsplit::coordinator
