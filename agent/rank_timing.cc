#include "agent/rank_timing.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>

#include "agent/derive_figures.h"
#include "agent/link_traffic.h"
#include "agent/stopping.h"
#include "core/stats.h"

namespace headsplit::agent {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kOtherLaunchesMin = 3;
constexpr int kOtherLaunchesMax = 10;

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

/// A batch of launches, and what the other ranks measured of them.
Result<void> launch_batch(RankSteps& steps, Step step, L2 l2, int launches, tp::MeshGroup& control,
                          TimedStep& timed) {
  std::vector<double> own;
  std::vector<double> reached;
  std::vector<double> reached_negative;  // the largest of these is the smallest of those
  for (int i = 0; i < launches; ++i) {
    const LaunchTime time = TRY(steps.launch(step, l2));
    own.push_back(time.total_us);
    reached.push_back(time.attention_us);
    reached_negative.push_back(-time.attention_us);
  }
  const auto slowest = TRY(control.largest(own));
  const auto last = TRY(control.largest(reached));
  const auto first = TRY(control.largest(reached_negative));
  timed.own_us.insert(timed.own_us.end(), own.begin(), own.end());
  timed.slowest_us.insert(timed.slowest_us.end(), slowest.begin(), slowest.end());
  for (std::size_t i = 0; i < last.size(); ++i) timed.skew_us.push_back(last[i] + first[i]);
  return {};
}

/// Rank 0's clock, on all ranks: so that they decide alike.
Result<double> shared(double own, tp::MeshGroup& control) {
  double value = own;
  TRY(control.broadcast(std::as_writable_bytes(std::span(&value, 1)), 0));
  return value;
}

std::optional<double> median(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return quantile(values, 0.5);
}

}  // namespace

Result<TimedStep> time_until_steady(RankSteps& steps, Step step, const Lease& lease,
                                    tp::MeshGroup& control) {
  TimedStep timed;
  const auto start = Clock::now();
  StopDecision decision = should_stop(timed.slowest_us, 0, lease.measure);
  while (!decision.stop) {
    TRY(launch_batch(steps, step, lease.point.l2, decision.launches_next, control, timed));
    timed.spent_us = TRY(shared(us_since(start), control));
    decision = should_stop(timed.slowest_us, timed.spent_us, lease.measure);
  }
  timed.stop_reason = decision.reason;
  return timed;
}

Result<TimedStep> time_launches(RankSteps& steps, Step step, const Lease& lease, int launches,
                                tp::MeshGroup& control) {
  TimedStep timed;
  const auto start = Clock::now();
  TRY(launch_batch(steps, step, lease.point.l2, launches, control, timed));
  timed.spent_us = us_since(start);
  return timed;
}

void note_times(const TimedStep& timed, Row& row) {
  row.samples_us = timed.slowest_us;
  row.sampling_s = timed.spent_us * 1e-6;
  row.stop_reason = timed.stop_reason;
  summarise_samples(row);
  row.kernel_s = std::accumulate(timed.own_us.begin(), timed.own_us.end(), 0.0) * 1e-6;
}

Result<void> time_rank(Device& device, RankSteps& steps, const Lease& lease, tp::MeshGroup& control,
                       Row& row) {
  const TimedStep sequence = TRY(time_until_steady(steps, Step::sequence, lease, control));
  note_times(sequence, row);
  row.skew_us = median(sequence.skew_us);
  const double budget_us = lease.measure.max_time_ms * 1e3 / 4;
  const int launches = std::clamp(static_cast<int>(budget_us / std::max(*row.time_us, 1.0)),
                                  kOtherLaunchesMin, kOtherLaunchesMax);
  const TimedStep attention = TRY(time_launches(steps, Step::attention, lease, launches, control));
  const LinkTraffic traffic(device);
  const TimedStep collective =
      TRY(time_launches(steps, Step::collective, lease, launches, control));
  traffic.note(launches, row);
  const TimedStep overlapped =
      TRY(time_launches(steps, Step::overlapped, lease, launches, control));
  RankPart& part = row.parts.front();
  part.time_us = median(sequence.own_us);
  part.attention_us = median(attention.own_us);
  part.collective_us = median(collective.own_us);
  part.overlapped_us = median(overlapped.own_us);
  row.sampling_s += (attention.spent_us + collective.spent_us + overlapped.spent_us) * 1e-6;
  return {};
}

}  // namespace headsplit::agent
