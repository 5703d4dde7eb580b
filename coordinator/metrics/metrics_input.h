#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/metrics/histogram.h"
#include "coordinator/scheduler.h"
#include "core/ceilings.h"
#include "core/message.h"

/// All that /metrics is computed from, as plain values.
namespace headsplit::coordinator {

/// Facts of this process, where the system tells.
struct ProcessFacts {
  std::optional<double> start_unix_s;
  std::optional<double> resident_bytes;
  std::optional<double> cpu_s;

  bool operator==(const ProcessFacts&) const = default;
};

/// The labels of a layout's series.
struct LayoutKey {
  std::string model;
  std::string kernel;
  std::string kv_dtype;
  int tp = 1;
  int dp = 1;
  int cp = 1;

  int ranks() const { return tp * dp * cp; }
  auto operator<=>(const LayoutKey&) const = default;
};

LayoutKey layout_key(const RowPoint& row);

/// Sums over the rows of one layout, each row counted with one launch.
struct KernelSums {
  Histogram duration_s{log_bounds(1e-6, 10)};
  double flops = 0;          ///< of every row
  double flops_counted = 0;  ///< of the rows whose DRAM bytes were counted
  double model_bytes = 0;
  double dram_bytes_read = 0;
  double dram_bytes_written = 0;
  double tensor_ops = 0;
  bool counted = false;            ///< some row had its DRAM bytes counted
  bool ops_counted = false;        ///< some row had its tensor operations counted
  std::optional<Exemplar> latest;  ///< its value: the FLOPs of that row

  bool operator==(const KernelSums&) const = default;
};

/// A mean of ratios.
struct GeometricMean {
  double log_sum = 0;
  std::int64_t count = 0;

  void add(double ratio);
  std::optional<double> value() const;
  bool operator==(const GeometricMean&) const = default;
};

/// Figures of one layout in one sweep: of its latest row, and against one rank alone.
struct LayoutFigures {
  double time_s = 0;
  int batch = 0;
  int query_tokens = 0;
  std::int64_t context = 0;
  std::optional<double> intensity_model;
  std::optional<double> intensity_measured;
  std::optional<double> flops_per_s;
  std::optional<double> model_bytes_per_s;
  std::optional<double> dram_bytes_per_s;
  std::optional<double> roofline_ratio;
  GeometricMean speedup;
  GeometricMean reuse_model;
  GeometricMean reuse_measured;
  GeometricMean kv_duplication;
  std::optional<double> kv_duplicated_bytes;

  bool operator==(const LayoutFigures&) const = default;
};

/// What is known of a connected agent beyond the scheduler's view.
struct AgentFacts {
  double last_spoke_unix_s = 0;
  Heartbeat heartbeat;  ///< the latest; all absent before the first
  double heartbeat_unix_s = 0;
  double throttled_s = 0;  ///< by heartbeats
  std::int64_t rows = 0;
  std::int64_t throttled_rows = 0;
  std::optional<bool> counters_available;  ///< by the latest row that asked for counters
  std::optional<Ceilings> ceilings;

  bool operator==(const AgentFacts&) const = default;
};

/// Most series that a scrape gets, unless told otherwise.
constexpr std::size_t kMetricsSeriesMax = 20'000;

struct MetricsInput {
  std::string version;
  std::string revision;
  ProcessFacts process;
  std::vector<SweepView> sweeps;  ///< in order of submission
  std::vector<AgentView> agents;
  SchedulerTotals totals;
  std::map<std::int64_t, AgentFacts> agent_facts;  ///< by session
  std::map<Status, std::int64_t> rows;             ///< stored, by status
  std::map<LayoutKey, KernelSums> kernels;
  std::map<LayoutKey, LayoutFigures> layouts;  ///< of the current sweep
  Histogram store_commit_s{log_bounds(1e-4, 10)};
  std::size_t store_queued = 0;
  std::size_t series_max = kMetricsSeriesMax;
  std::uint64_t series_omitted = 0;  ///< in earlier scrapes
};

/// The sweep that metrics are about: the first unfinished one, which is served first; else the
/// last.  Null when there is none.
const SweepView* current_sweep(const std::vector<SweepView>& sweeps);

}  // namespace headsplit::coordinator
