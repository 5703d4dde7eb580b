#include "agent/run_point.h"

#include <chrono>
#include <numeric>

#include "agent/derive_figures.h"
#include "agent/point_reference.h"
#include "agent/state_readings.h"
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

constexpr int kWarmLaunches = 5;
constexpr int kPartLaunches = 5;
/// Reading clocks and power takes 4 ms: all but the first are begun beside launches that take
/// longer.
constexpr double kStateReadSeconds = 5e-3;
/// Sustained: how long the kernel runs before it is sampled.  A power limit shows in a tenth of it.
constexpr double kSettlingSeconds = 1;
constexpr int kSettlingLaunches = 64;

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  /// Seconds so far; begins anew.
  double lap() {
    const double spent_s = seconds();
    start_ = std::chrono::steady_clock::now();
    return spent_s;
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

/// What the outputs are compared with: made for the first point of a rank problem.
Result<const kernels::Reference*> reference_of(Device& device, const Problem& problem,
                                               const Lease& lease, ProblemMemory& memory) {
  if (const kernels::Reference* known = memory.reference(lease)) return known;
  return &memory.remember(lease, TRY(make_point_reference(device, problem)));
}

/// The outputs of the last launch against the reference; the row keeps the worst of all times.
Result<void> verify(BoundKernel& kernel, const Problem& problem,
                    const kernels::Reference& reference, Row& row) {
  const auto verification = TRY(kernels::verify(kernel, problem, reference));
  row.error_vs_reference = std::max(row.error_vs_reference.value_or(0), verification.worst);
  return {};
}

Result<void> verify_before(BoundKernel& kernel, const Problem& problem,
                           const kernels::Reference& reference, Row& row) {
  TRY(kernel.poison());
  TRY(kernel.launch(Part::all));
  return verify(kernel, problem, reference, row);
}

/// A kernel that does less when it is timed than when it is checked would pass the check above.
Result<void> verify_timed(Device& device, BoundKernel& kernel, const Lease& lease,
                          const Problem& problem, const kernels::Reference& reference, Row& row) {
  const double time_us = TRY(device.time_poisoned_us(kernel, lease.point.l2));
  row.kernel_s += time_us * 1e-6;
  row.gpu_s += time_us * 1e-6;
  row.sampling_s += time_us * 1e-6;
  const Result<void> verified = verify(kernel, problem, reference, row);
  if (verified) return {};
  static_cast<RowTiming&>(row) = {.measure_mode = row.measure_mode};  // no results
  return within_context("right when checked, wrong when timed", verified.error());
}

/// Sustained mode: launches that are not samples, until clocks and power have settled under them.
Result<void> settle_clocks(Device& device, BoundKernel& kernel) {
  const Stopwatch watch;
  while (watch.seconds() < kSettlingSeconds) {
    TRY(device.time(kernel, {.l2 = L2::warm, .launches = kSettlingLaunches}));
  }
  return {};
}

/// One batch of samples.  The state of the device is read beside them, for the first time as soon
/// as there are samples.
Result<void> sample_batch(Device& device, BoundKernel& kernel, const Lease& lease, int launches,
                          StateReadings& readings, Row& row) {
  const double samples = static_cast<double>(row.samples_us.size());
  if (samples > 0) {
    const double expected_s = row.gpu_s / samples * launches;
    if (readings.empty() || expected_s > kStateReadSeconds) readings.begin();
  }
  const Timed timed = TRY(device.time(kernel, {.l2 = lease.point.l2, .launches = launches}));
  readings.collect(row);
  row.samples_us.insert(row.samples_us.end(), timed.samples_us.begin(), timed.samples_us.end());
  row.gpu_s += timed.gpu_s;
  return {};
}

/// Samples until the stopping rule is content.
Result<void> sample(Device& device, BoundKernel& kernel, const Lease& lease,
                    StateReadings& readings, Row& row) {
  StopDecision decision = should_stop(row.samples_us, 0, lease.measure);
  while (!decision.stop) {
    TRY(sample_batch(device, kernel, lease, decision.launches_next, readings, row));
    decision = should_stop(row.samples_us, row.gpu_s * 1e6, lease.measure);
  }
  row.stop_reason = decision.reason;
  return {};
}

Result<void> time_kernel(Device& device, BoundKernel& kernel, const Lease& lease,
                         StateReadings& readings, Row& row) {
  row.measure_mode = lease.measure.mode;
  if (lease.measure.mode == MeasureMode::sustained) TRY(settle_clocks(device, kernel));
  const Stopwatch watch;
  TRY(sample(device, kernel, lease, readings, row));
  row.sampling_s = watch.seconds();
  summarise_samples(row);
  row.kernel_s = std::accumulate(row.samples_us.begin(), row.samples_us.end(), 0.0) * 1e-6;
  return {};
}

/// Median time of one part of the launch; adds what it spent to `row`.
Result<double> median_us(Device& device, BoundKernel& kernel, const TimeRequest& request,
                         Row& row) {
  const Timed timed = TRY(device.time(kernel, request));
  row.kernel_s += std::accumulate(timed.samples_us.begin(), timed.samples_us.end(), 0.0) * 1e-6;
  row.gpu_s += timed.gpu_s;
  return quantile(timed.samples_us, 0.5);
}

/// The second column: the other cache state, and split and combine apart.  Only for launches short
/// enough to be repeated at no great cost beside the main samples.
Result<void> time_parts(Device& device, BoundKernel& kernel, const Lease& lease, Row& row) {
  const double budget_us = lease.measure.min_time_ms * 1e3;
  if (*row.time_us * kWarmLaunches > budget_us) return {};
  const Stopwatch watch;
  const L2 l2 = lease.point.l2;
  if (l2 == L2::cold) {
    row.time_warm_us =
        TRY(median_us(device, kernel, {.l2 = L2::warm, .launches = kWarmLaunches}, row));
  }
  if (kernel.config().num_splits > 1) {
    TimeRequest part{.part = Part::split, .l2 = l2, .launches = kPartLaunches};
    row.split_us = TRY(median_us(device, kernel, part, row));
    part.part = Part::combine;
    row.combine_us = TRY(median_us(device, kernel, part, row));
  }
  row.sampling_s += watch.seconds();
  return {};
}

void note_counts(const RememberedCounts& counted, Row& row) {
  const Counts& counts = counted.counts;
  row.dram_bytes_read = counts.dram_bytes_read;
  row.dram_bytes_written = counts.dram_bytes_written;
  row.tensor_ops = counts.tensor_ops;
  row.l2_bytes = counts.l2_bytes;
  row.l2_hit_ratio = counts.l2_hit_ratio;
  row.tensor_active_ratio = counts.tensor_active_ratio;
  row.issue_active_ratio = counts.issue_active_ratio;
  row.occupancy = counts.occupancy;
  row.counters = counts.all;
  row.counters_reason = counts.reason;
  if (!counts.all.empty()) row.counted_point = counted.point_id;
}

/// Counters of one launch.  The same launch of the same kernel moves the same bytes: what an
/// earlier point of this worker has counted is not counted again, and the row says where it was.
Result<void> count_work(Device& device, BoundKernel& kernel, const Lease& lease,
                        ProblemMemory& memory, Row& row) {
  if (!lease.measure.counters) {
    row.counters_reason = kCountersNotAskedFor;
    return {};
  }
  if (const RememberedCounts* known = memory.counts(lease)) {
    note_counts(*known, row);
    return {};
  }
  const Stopwatch watch;
  // What an FP8 cache becomes is multiplied in f16, and f16 operations need a pass of their own.
  const bool eight_bits = lease.point.kv_dtype != KvDtype::bf16;
  const CountMode mode{.detail = lease.measure.counters_detail || eight_bits,
                       .repeatable = lease.point.ranks == Ranks::emulated};
  const RememberedCounts counted{TRY(device.count(kernel, mode)), lease.point_id};
  row.count_s += watch.seconds();
  note_counts(counted, row);
  if (!counted.counts.all.empty()) memory.remember(lease, counted);
  return {};
}

void note_config(const kernels::Config& config, Row& row) {
  row.num_splits = config.num_splits;
  row.padded_rows = config.padded_rows;
  row.active_ctas = config.workers;
  row.config = str("rows ", config.tile_rows, " x tokens ", config.tile_tokens, ", ",
                   config.num_splits, " splits, ", config.workers, " workers: ", config.reason);
}

/// The protocol, step by step.
Result<void> measure(Device& device, const Ceilings& ceilings, const Lease& lease,
                     ProblemMemory& memory, Row& row) {
  Stopwatch watch;
  device.settle();
  row.count_s = watch.lap();  // what is left of programming the counters after the last point
  const Problem problem = kernels::make_problem(lease.problem, lease.seed);
  const auto kernel = TRY(device.bind(lease.point.kernel, problem, lease.point.fixed_splits));
  note_config(kernel->config(), row);
  row.prepare_s = watch.lap();
  const kernels::Reference* reference = TRY(reference_of(device, problem, lease, memory));
  TRY(verify_before(*kernel, problem, *reference, row));
  row.verify_s = watch.lap();
  StateReadings readings(device);
  TRY(time_kernel(device, *kernel, lease, readings, row));
  watch.lap();
  TRY(verify_timed(device, *kernel, lease, problem, *reference, row));
  row.verify_s += watch.lap();
  TRY(time_parts(device, *kernel, lease, row));
  watch.lap();
  readings.finish(row);
  row.sampling_s += watch.lap();
  TRY(count_work(device, *kernel, lease, memory, row));
  derive_figures(kernels::work(problem), ceilings, kernel->arithmetic(), row);
  return {};
}

}  // namespace

Row run_point(Device& device, const Ceilings& ceilings, const Lease& lease, ProblemMemory& memory) {
  const Stopwatch watch;
  Row row = started_row(device.info(), lease);
  Result<void> outcome = check_memory(device.info(), lease.problem);
  if (outcome) outcome = measure(device, ceilings, lease, memory, row);
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
