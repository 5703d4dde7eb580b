#pragma once

#include <deque>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "coordinator/agent_pool.h"
#include "coordinator/scheduler.h"
#include "coordinator/sweep_run.h"

namespace headsplit::coordinator {

/// No session.
constexpr std::int64_t kNobody = -1;

/// Everything the scheduler knows, and one method an event.  Used by scheduler*.cc only.
class Scheduler::State {
 public:
  explicit State(SchedulerSettings settings)
      : settings_(settings), quarantine_(settings.quarantine) {}

  void on(const SweepSubmitted& event);
  void on(const SweepRecalled& event);
  void on(const AgentJoined& event);
  void on(const AgentLost& event);
  void on(const AgentSpoke& event);
  void on(const RowReported& event);
  void on(const RankReady& event);
  void on(const RowStored& event);
  void on(const Tick& event);
  void on(const SweepCancelled& event);
  void on(const ShutdownBegun& event);

  /// Hands waiting points to idle agents until one or the other runs out.
  void grant_all();

  std::vector<SweepView> sweeps() const;
  std::vector<AgentView> agents() const;

  TimePoint now;
  std::vector<Action> actions;
  SchedulerTotals totals;

 private:
  struct AgentRun {
    AgentInfo info;
    TimePoint heard;
    SweepRun* sweep = nullptr;  ///< of the point in its hands; null when idle
    std::size_t at = 0;
    bool spool_full = false;
  };
  using Sweeps = std::list<SweepRun>;

  // Sweeps.
  SweepRun* active_sweep(const std::string& id);
  void end_if_finished(SweepRun& sweep);
  void keep_finished(std::shared_ptr<const FinishedSweep> sweep);
  void cancel_point(SweepRun& sweep, std::size_t at, const std::string& reason);

  // Attempts.
  /// The agents of the attempt are idle again, except those gone.
  void release_agents(SweepRun& sweep, std::size_t at);
  void release_agent(std::int64_t session);
  /// Offers an agent for work, or does not: it is busy, drained or has no room for rows.
  void offer(std::int64_t session);
  std::string why_held_back(const AgentRun& agent) const;
  /// Tells the agents of an attempt to stop, except one, and answers parts that came to nothing.
  void stop_gang(SweepRun& sweep, std::size_t at, std::int64_t except, const std::string& reason);
  bool is_late(const AgentRun& agent, std::int64_t session) const;
  void remove_agent(std::int64_t session, const std::string& outcome, const std::string& reason);
  /// An attempt gave no row: the point waits again, or fails when its attempts are used up.
  /// blamed: the agent it failed on, if one.
  void fail_attempt(SweepRun& sweep, std::size_t at, StoreAttempt record,
                    const std::optional<AgentInfo>& blamed = std::nullopt);
  void end_failed_point(SweepRun& sweep, std::size_t at, bool condemned);

  // Quarantine.
  void blame(SweepRun& sweep, std::size_t at, const AgentInfo& agent, const std::string& outcome);
  /// The point's row says how the node does: one that ends well clears it.
  void judge_node(SweepRun& sweep, std::size_t at, const RowReported& event);
  bool others_can_work(const std::string& node, const std::string& backend) const;
  void drain_node(const std::string& node);
  void release_drained();
  void store_coordinator_row(SweepRun& sweep, std::size_t at, Status status, std::string reason);

  // Reports.
  void take_report(SweepRun& sweep, std::size_t at, const RowReported& event);
  void take_failed_report(SweepRun& sweep, std::size_t at, const RowReported& event,
                          const std::string& outcome, const std::string& reason);
  void answer_finished(const FinishedSweep& sweep, const RowReported& event);
  void answer(const RowReported& event, Acceptance acceptance, const std::string& reason);
  void refuse_stale(const RowReported& event, std::int64_t latest);
  bool answer_repeat(const RowReported& event, const std::vector<AttemptFailure>& failures);

  // Gangs.
  void take_part(SweepRun& sweep, std::size_t at, const RowReported& event);
  void end_gang(SweepRun& sweep, std::size_t at, const RowReported& event, std::size_t rank);
  void finish_gang(SweepRun& sweep, std::size_t at);
  /// What becomes of a waiting gang: granted or skipped, waiting (its kind is then held), or short.
  enum class GangNext { done, waits, short_of_agents };
  GangNext next_gang(SweepRun& sweep, std::size_t at);
  void grant_gang(SweepRun& sweep, std::size_t at, const std::vector<std::int64_t>& sessions);

  // Grants.
  bool grant_next(SweepRun& sweep);
  void grant(SweepRun& sweep, std::size_t at, std::int64_t session);
  std::vector<std::int64_t> idle_agents_of(const SweepRun& sweep) const;
  bool some_agent_fits(const SweepRun& sweep, std::int64_t memory_bytes) const;
  std::int64_t most_memory_of(const SweepRun& sweep) const;

  void log(LogLevel level, std::string event, std::string details);
  TimePoint after(double seconds) const;

  SchedulerSettings settings_;
  bool shutting_down_ = false;
  bool gang_waits_ = false;  ///< in this round of grants: nothing behind it is served
  TimePoint last_join_;
  AgentPool pool_;
  Quarantine quarantine_;
  Sweeps active_;
  std::deque<std::shared_ptr<const FinishedSweep>> finished_;
  std::map<std::int64_t, AgentRun> agents_;
  std::set<std::int64_t> idle_;
};

/// What an agent's memory figure says: 0 is unknown, and fits anything.
bool fits(const AgentInfo& agent, std::int64_t memory_bytes);

/// "agent a ", or "rank 2 (agent a) " of a gang.
std::string rank_text(SweepRun& sweep, std::size_t at, std::int64_t session);

/// What an agent's failures count against: its node, or itself when it names none.
std::string node_of(const AgentInfo& agent);

/// " sweep=... point=..." for logs.
std::string point_fields(const SweepRun& sweep, std::size_t at);

}  // namespace headsplit::coordinator
