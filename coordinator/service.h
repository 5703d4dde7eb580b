#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "coordinator/agent_link.h"
#include "coordinator/metrics/openmetrics.h"
#include "coordinator/metrics/telemetry.h"
#include "coordinator/rate.h"
#include "coordinator/scheduler.h"
#include "coordinator/store.h"
#include "coordinator/web/row_feed.h"
#include "core/async.h"

namespace headsplit::coordinator {

struct ServiceSettings {
  double heartbeat_s = 1;       ///< how often agents must speak
  double silence_limit_s = 10;  ///< after this much silence an agent counts as lost
  double gang_patience_s = 30;  ///< a gang waits so long for more agents to connect
  std::size_t metrics_series_max = kMetricsSeriesMax;
  QuarantineSettings quarantine;
};

/// A sweep as clients see it.
struct SweepStatus : SweepView {
  std::string state;            ///< running | finished
  double rate_per_s = 0;        ///< points that ended, lately
  std::optional<double> eta_s;  ///< absent while it cannot be told
};
BOOST_DESCRIBE_STRUCT(SweepStatus, (SweepView), (state, rate_per_s, eta_s))

/// An agent as clients see it.
struct AgentStatus : AgentView {
  std::string working_on_label;  ///< of the point, for people; empty when idle
  double heard_s_ago = 0;
  std::optional<double> sm_clock_mhz;  ///< of its latest heartbeat
  std::optional<double> power_w;
  std::optional<double> temperature_c;
};
BOOST_DESCRIBE_STRUCT(AgentStatus, (AgentView),
                      (working_on_label, heard_s_ago, sm_clock_mhz, power_w, temperature_c))

/// The coordinator without its sockets: feeds events to the scheduler and carries out its actions,
/// with the store behind it and the agents' links before it.  Grants and acknowledgements go out
/// when what they rest on is durable.  One thread, that of `executor`.
class Service {
 public:
  Service(net::any_io_executor executor, Store& store, ServiceSettings settings);

  /// Takes up the sweeps of earlier processes.  Call once, before anything else.
  void restore(RestoredSweeps sweeps);
  /// Rows that an earlier process stored for a sweep, for the figures in the metrics.
  void recall(const std::string& sweep, const std::vector<Row>& rows);

  /// Ticks until cancelled.  Fails: io, when the store cannot write any more.
  Task<> run();

  // ---- Sweeps --------------------------------------------------------------------------------

  /// Returns when the plan is durable.  Fails: io.
  Task<SweepStatus> submit(Plan plan, std::string backend);
  std::vector<SweepStatus> sweeps() const;
  std::optional<SweepStatus> sweep(const std::string& id) const;
  void cancel_sweep(const std::string& id, const std::string& reason);

  // ---- Agents --------------------------------------------------------------------------------

  /// Takes an agent in: sends Welcome over `link`, answers to what it left unacknowledged, and
  /// leases from then on, until `leave`.  Gives the session.
  /// Fails: config (why it is refused: another protocol, a name already connected, a bad name).
  Result<std::int64_t> join(Hello hello, AgentLink& link);
  void hear(std::int64_t session, AgentMessage message);
  void leave(std::int64_t session, const std::string& reason);
  std::vector<AgentStatus> agents() const;

  /// Too much waits for the disk: take no more reports just now.
  bool overloaded() const;

  // ---- The rest --------------------------------------------------------------------------------

  /// The answer to a scrape.  accept: its header of that name.
  MetricsReply metrics(const std::string& accept);

  /// The rows that became durable lately.
  const RowFeed& recent_rows() const { return recent_rows_; }

  /// Nothing is granted any more, agents are told to stop.
  void begin_shutdown() { apply(ShutdownBegun{}); }
  /// Ends every agent's connection.
  void close_all(const std::string& reason);
  /// All that was handed to the store is durable.
  bool settled() const { return store_.queued() == 0; }

 private:
  /// A grant whose lease is not durable yet: session, sweep, point, epoch.
  using PendingGrant = std::tuple<std::int64_t, std::string, std::string, std::int64_t>;
  using Clock = std::chrono::steady_clock;

  struct Connected {
    AgentLink* link = nullptr;
    std::string agent;
    Clock::time_point heard;
    Heartbeat heartbeat;  ///< the latest
    std::string label;    ///< of the point granted last
  };

  void apply(const Event& event);
  void carry_out(GrantLease& action);
  void carry_out(GrantGang& action);
  void carry_out(SendGo& action);
  void carry_out(StoreRow& action);
  void carry_out(StoreAttempt& action);
  void carry_out(SendAck& action);
  void carry_out(SendCancel& action);
  void carry_out(DropAgent& action);
  void carry_out(SweepFinished& action);
  void carry_out(LogDecision& action);

  /// A record in the store's hands.
  struct WaitingRecord {
    WaitingRecord(Clock::time_point handed_in, std::function<void()> next)
        : since(handed_in), then(std::move(next)) {}
    Clock::time_point since;
    std::function<void()> then;
    Result<> stored;
  };
  /// On the way from the store's thread to ours.
  struct Answered {
    explicit Answered(net::any_io_executor to) : executor(std::move(to)) {}
    const net::any_io_executor executor;
    std::mutex mutex;
    std::vector<std::shared_ptr<WaitingRecord>> records;
  };

  /// Has a record stored at the end of this step; `then` runs on our thread when it is durable.
  void store(StoreWrite record, std::function<void()> then);
  /// Goes on with the records that the store has answered.
  void take_settled();
  void send(std::int64_t session, const CoordinatorMessage& message);
  void forget(std::int64_t session);
  Result<void> admit(const Hello& hello);
  SweepStatus status_of(const SweepView& view) const;

  std::shared_ptr<Answered> answered_;
  Store& store_;
  ServiceSettings settings_;
  Scheduler scheduler_;
  std::int64_t sessions_begun_ = 0;
  std::map<std::int64_t, Connected> connected_;
  std::map<std::string, std::int64_t> session_of_;  ///< by agent name
  std::set<PendingGrant> pending_grants_;
  std::vector<Store::Write> to_store_;      ///< what the step under way wants stored
  std::map<std::string, RateMeter> rates_;  ///< by sweep, while it runs
  Telemetry telemetry_;
  RowFeed recent_rows_;
  std::optional<Error> store_error_;
};

}  // namespace headsplit::coordinator
