#include "agent/run_point.h"

#include <chrono>
#include <numeric>

#include "agent/derive_figures.h"
#include "agent/stopping.h"
#include "core/stats.h"
#include "core/version.h"
#include "kernels/problem.h"
#include "kernels/verify.h"

namespace headsplit::agent {
namespace {

using kernels::BoundKernel;
using kernels::Part;
using kernels::Problem;

/// Cached tokens of the requests whose rows are compared with the fp64 reference before a point is
/// timed: making them costs about a microsecond each, so large problems are sampled.
constexpr double kReferenceTokenBudget = 1 << 14;
constexpr double kReferenceRequestsMin = 2;
constexpr double kReferenceRowsOfRequest = 4;
constexpr int kWarmLaunches = 5;
constexpr int kPartLaunches = 5;

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

Row started_row(const DeviceInfo& info, const Lease& lease) {
  Row row = row_of(lease.point);
  row.epoch = lease.epoch;
  row.sweep = lease.sweep;
  row.backend = enum_name(info.backend);
  row.device = info.name;
  row.gpu_uuid = info.gpu_uuid;
  row.driver = info.driver;
  row.cuda = info.cuda;
  row.build = build_revision();
  row.seed = lease.seed;
  row.started_unix_s =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  row.local_heads = lease.problem.local_heads;
  row.rank_batch = lease.problem.batch;
  row.rank_context = lease.problem.context;
  return row;
}

Result<void> check_memory(const DeviceInfo& info, const RankProblem& shape) {
  const double needed_bytes = kernels::memory_bytes(shape);
  if (needed_bytes <= static_cast<double>(info.memory_bytes)) return {};
  return fail(ErrorKind::config, "needs ", static_cast<std::int64_t>(needed_bytes),
              " bytes of memory, ", info.memory_bytes, " are free");
}

Result<void> verify_once(BoundKernel& kernel, const Problem& problem, Row& row) {
  const Stopwatch watch;
  TRY(kernel.poison());
  TRY(kernel.launch(Part::all));
  const double context = std::max<double>(1, static_cast<double>(problem.shape.context));
  const double requests = std::max(kReferenceRequestsMin, kReferenceTokenBudget / context);
  const auto rows_max = static_cast<std::int64_t>(requests * kReferenceRowsOfRequest);
  const auto verification = TRY(kernels::verify(kernel, problem, rows_max));
  row.error_vs_reference = verification.worst;
  row.verify_s = watch.seconds();
  return {};
}

void note_state(Device& device, Row& row) {
  const DeviceState state = device.state();
  row.sm_clock_mhz = state.sm_clock_mhz;
  row.memory_clock_mhz = state.memory_clock_mhz;
  row.power_w = state.power_w;
  row.temperature_c = state.temperature_c;
  // One throttled moment marks the whole row: samples are flagged, never thrown away.
  row.throttled = row.throttled.value_or(false) || state.throttled.value_or(false);
  if (!state.throttled && !row.throttled.value()) row.throttled.reset();
  if (state.throttled.value_or(false)) row.throttle_reason = state.throttle_reason;
}

Result<void> time_kernel(Device& device, BoundKernel& kernel, const Lease& lease, Row& row) {
  const std::optional<double> energy_before_j = device.state().energy_j;
  const Stopwatch watch;
  StopDecision decision = should_stop(row.samples_us, 0, lease.measure);
  while (!decision.stop) {
    const auto batch =
        TRY(device.time_us(kernel, Part::all, lease.point.l2, decision.launches_next));
    row.samples_us.insert(row.samples_us.end(), batch.begin(), batch.end());
    note_state(device, row);
    decision = should_stop(row.samples_us, watch.seconds() * 1e6, lease.measure);
  }
  row.sampling_s = watch.seconds();
  const std::optional<double> energy_after_j = device.state().energy_j;
  if (energy_before_j && energy_after_j) row.energy_j = *energy_after_j - *energy_before_j;
  row.stop_reason = decision.reason;
  const Summary summary = summarise(row.samples_us);
  row.time_us = summary.median;
  row.time_p10_us = summary.p10;
  row.time_p90_us = summary.p90;
  row.time_noise = summary.noise;
  row.time_ci_low_us = summary.ci_low;
  row.time_ci_high_us = summary.ci_high;
  row.kernel_s = std::accumulate(row.samples_us.begin(), row.samples_us.end(), 0.0) * 1e-6;
  return {};
}

/// Median time of one part of the launch; adds what it spent to `row.kernel_s`.
Result<double> median_us(Device& device, BoundKernel& kernel, Part part, L2 l2, int launches,
                         Row& row) {
  const auto samples_us = TRY(device.time_us(kernel, part, l2, launches));
  row.kernel_s += std::accumulate(samples_us.begin(), samples_us.end(), 0.0) * 1e-6;
  return quantile(samples_us, 0.5);
}

/// The second column: the other cache state, and split and combine apart.  Only for launches short
/// enough to be repeated at no great cost beside the main samples.
Result<void> time_parts(Device& device, BoundKernel& kernel, const Lease& lease, Row& row) {
  const double budget_us = lease.measure.min_time_ms * 1e3;
  if (*row.time_us * kWarmLaunches > budget_us) return {};
  if (lease.point.l2 == L2::cold) {
    row.time_warm_us = TRY(median_us(device, kernel, Part::all, L2::warm, kWarmLaunches, row));
  }
  if (kernel.config().num_splits > 1) {
    const L2 l2 = lease.point.l2;
    row.split_us = TRY(median_us(device, kernel, Part::split, l2, kPartLaunches, row));
    row.combine_us = TRY(median_us(device, kernel, Part::combine, l2, kPartLaunches, row));
  }
  return {};
}

Result<void> count_work(Device& device, BoundKernel& kernel, const Lease& lease, Row& row) {
  if (!lease.measure.counters) {
    row.counters_reason = kCountersNotAskedFor;
    return {};
  }
  const Counts counts = TRY(device.count(kernel));
  row.dram_bytes_read = counts.dram_bytes_read;
  row.dram_bytes_written = counts.dram_bytes_written;
  row.tensor_ops = counts.tensor_ops;
  row.l2_bytes = counts.l2_bytes;
  row.l2_hit_ratio = counts.l2_hit_ratio;
  row.tensor_active_ratio = counts.tensor_active_ratio;
  row.occupancy = counts.occupancy;
  row.counters = counts.all;
  row.counters_reason = counts.reason;
  return {};
}

Result<void> measure(Device& device, const Ceilings& ceilings, const Lease& lease, Row& row) {
  const Stopwatch watch;
  const Problem problem = kernels::make_problem(lease.problem, lease.seed);
  const auto kernel = TRY(device.bind(lease.point.kernel, problem));
  const kernels::Config config = kernel->config();
  row.num_splits = config.num_splits;
  row.padded_rows = config.padded_rows;
  row.active_ctas = config.workers;
  row.config = str("rows ", config.tile_rows, " x tokens ", config.tile_tokens, ", ",
                   config.num_splits, " splits, ", config.workers, " workers: ", config.reason);
  row.prepare_s = watch.seconds();
  TRY(verify_once(*kernel, problem, row));
  TRY(time_kernel(device, *kernel, lease, row));
  const Stopwatch parts;
  TRY(time_parts(device, *kernel, lease, row));
  row.sampling_s += parts.seconds();
  TRY(count_work(device, *kernel, lease, row));
  derive_figures(kernels::work(problem), ceilings, row);
  return {};
}

}  // namespace

Row run_point(Device& device, const Ceilings& ceilings, const Lease& lease) {
  const Stopwatch watch;
  Row row = started_row(device.info(), lease);
  Result<void> outcome = check_memory(device.info(), lease.problem);
  if (outcome) outcome = measure(device, ceilings, lease, row);
  if (outcome) {
    row.status = Status::ok;
  } else {
    // `config` means this build or device cannot run the point: nothing broke.
    row.status = outcome.error().kind == ErrorKind::config ? Status::skipped : Status::failed;
    row.reason = outcome.error().message;
  }
  row.wall_s = watch.seconds();
  return row;
}

}  // namespace headsplit::agent
