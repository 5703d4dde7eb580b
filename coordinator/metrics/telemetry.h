#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/metrics/metrics_input.h"
#include "coordinator/metrics/sweep_figures.h"

namespace headsplit::coordinator {

/// What the scheduler and the store know at the moment of a scrape.
struct MetricsMoment {
  std::vector<SweepView> sweeps;
  std::vector<AgentView> agents;
  SchedulerTotals totals;
  std::size_t store_queued = 0;
};

/// What metrics remember between scrapes, told by the server as things happen.  Bounded: by the
/// agents that are connected, the layouts of rows, and the points of the latest few sweeps.  Not
/// thread-safe; no clock: the caller says when it is.
class Telemetry {
 public:
  explicit Telemetry(std::size_t series_max = kMetricsSeriesMax);

  void agent_joined(std::int64_t session, const AgentInfo& agent, double unix_s);
  void agent_spoke(std::int64_t session, double unix_s);
  void heartbeat(std::int64_t session, Heartbeat heartbeat, double unix_s);
  void agent_left(std::int64_t session);

  /// A record of the store became durable, so long after it was handed in.
  void committed(double seconds);
  /// A row of a sweep (plan id) became durable.
  void row_stored(const std::string& sweep, const Row& row, double unix_s);
  /// A row that an earlier process left: part of the sweep's figures, not of this one's totals.
  void row_restored(const std::string& sweep, const Row& row);

  /// A scrape left so many series out.
  void series_omitted(std::uint64_t count) { series_omitted_ += count; }

  MetricsInput input(MetricsMoment moment) const;

  /// Sweeps whose figures are kept: the current one and those a busy hour may switch between.
  static constexpr std::size_t kSweepsKept = 8;
  /// Layouts whose sums are kept; rows of further ones count by status only.
  static constexpr std::size_t kLayoutsMax = 10'000;

 private:
  struct Connected {
    std::string name;
    AgentFacts facts;
  };
  AgentFacts* facts_of(const std::string& agent);
  SweepFigures& figures_of(const std::string& sweep);
  void add_to_kernel(const std::string& sweep, const Row& row, double unix_s);

  std::size_t series_max_;
  std::uint64_t series_omitted_ = 0;
  std::map<std::int64_t, Connected> agents_;
  std::map<std::string, std::int64_t> session_of_agent_;
  std::map<Status, std::int64_t> rows_;
  std::map<LayoutKey, KernelSums> kernels_;
  std::deque<std::pair<std::string, SweepFigures>> sweeps_;  ///< the latest touched last
  Histogram store_commit_s_;
};

/// Of this process, from /proc.
ProcessFacts process_facts();

}  // namespace headsplit::coordinator
