#include "coordinator/answers/comparison.h"

#include <algorithm>
#include <set>

#include "coordinator/answers/bootstrap.h"
#include "coordinator/answers/measured_points.h"
#include "coordinator/answers/row_key.h"
#include "core/nearest.h"
#include "core/stats.h"

namespace headsplit::coordinator {
namespace {

std::string machine_of(const Row& row) {
  const std::string which = row.gpu_uuid.empty() ? row.node : row.gpu_uuid;
  std::string text = str(row.device, " ", which);
  if (!row.driver.empty()) text += ", driver " + row.driver;
  if (!row.cuda.empty()) text += ", CUDA " + row.cuda;
  return text;
}

Side side_of(const std::string& name, std::span<const Row> rows) {
  std::set<std::string> machines;
  std::set<std::string> builds;
  for (const Row& row : rows) {
    if (row.status != Status::ok) continue;
    machines.insert(machine_of(row));
    builds.insert(row.build);
  }
  return {name, {machines.begin(), machines.end()}, {builds.begin(), builds.end()}, rows.size()};
}

/// Interval against floor; the same in cycles must say so too, when clocks are known.
void decide(PointComparison& point, std::optional<double> clock_ratio, double fail_over) {
  const double limit = 1 + point.noise;
  const auto is_slower = [&](double scale) { return point.ratio_low * scale > limit; };
  const auto is_faster = [&](double scale) { return point.ratio_high * scale < 1 / limit; };
  const double cycles = clock_ratio.value_or(1);
  if (is_slower(1) && is_slower(cycles)) {
    point.change = Change::slower;
    point.regression = point.ratio > 1 + fail_over;
  } else if (is_faster(1) && is_faster(cycles)) {
    point.change = Change::faster;
  } else if (is_slower(1) || is_faster(1)) {
    point.reason = "differs in time, not in cycles: the SM clocks differ";
  } else if (const double margin = 1 + std::max(point.noise, fail_over);
             point.ratio_high <= margin && point.ratio_low >= 1 / margin) {
    point.change = Change::same;
  } else {
    point.reason = "the interval reaches over the noise floor";
  }
}

/// Least disturbed repeat against least disturbed repeat.
void compare_quiet(const MeasuredPoint::Quiet& a, const MeasuredPoint::Quiet& b,
                   PointComparison& point) {
  const double gap = std::max(a.gap, b.gap);
  point.a_us = a.time_us;
  point.b_us = b.time_us;
  point.ratio = b.time_us / a.time_us;
  point.ratio_low = point.ratio / (1 + gap);
  point.ratio_high = point.ratio * (1 + gap);
}

void compare_medians(const MeasuredPoint& a, const MeasuredPoint& b, PointComparison& point) {
  point.a_us = a.time_us();
  point.b_us = b.time_us();
  const RatioInterval interval = ratio_of_medians(a.batches_us, b.batches_us);
  point.ratio = interval.ratio;
  point.ratio_low = interval.low;
  point.ratio_high = interval.high;
}

std::optional<double> ratio_of(std::optional<double> above, std::optional<double> below) {
  if (!above || !below) return std::nullopt;
  return *above / *below;
}

PointComparison compare_point(const MeasuredPoint& a, const MeasuredPoint& b,
                              const NoiseFloor& noise, double fail_over) {
  PointComparison point;
  point.point = a.label;
  std::optional<double> clock_ratio;
  const auto quiet_a = a.quiet();
  const auto quiet_b = b.quiet();
  if (quiet_a && quiet_b) {
    compare_quiet(*quiet_a, *quiet_b, point);
    clock_ratio = ratio_of(b.highest_clock_mhz(), a.highest_clock_mhz());
  } else {
    compare_medians(a, b, point);
    clock_ratio = ratio_of(b.clock_mhz(), a.clock_mhz());
  }
  point.noise = noise.at(point.a_us);
  point.rows_a = a.row_ids();
  point.rows_b = b.row_ids();
  if (clock_ratio) point.cycle_ratio = point.ratio * *clock_ratio;
  decide(point, clock_ratio, fail_over);
  return point;
}

/// Pairs, and what has no pair.
void pair_up(const MeasuredPoints& a, const MeasuredPoints& b, Comparison& comparison) {
  for (const MeasuredPoint& mine : a.points) {
    if (mine.rows.empty()) continue;
    const MeasuredPoint* other = b.find(problem_key(*mine.rows.front()));
    if (other != nullptr && !other->rows.empty()) {
      comparison.points.push_back(
          compare_point(mine, *other, comparison.noise, comparison.fail_over));
    } else if (other != nullptr && !other->failure.empty()) {
      comparison.failed.push_back({mine.label, "failed: " + other->failure});
    } else {
      comparison.only_a.push_back({mine.label, "no ok row"});
    }
  }
  for (const MeasuredPoint& theirs : b.points) {
    if (theirs.rows.empty()) continue;
    const MeasuredPoint* mine = a.find(problem_key(*theirs.rows.front()));
    if (mine != nullptr && !mine->rows.empty()) continue;
    const std::string failure = mine == nullptr ? "" : mine->failure;
    comparison.only_b.push_back(
        {theirs.label, failure.empty() ? "no ok row" : "failed: " + failure});
  }
}

void count_changes(Comparison& comparison) {
  for (const PointComparison& point : comparison.points) {
    switch (point.change) {
      case Change::same: ++comparison.same; break;
      case Change::faster: ++comparison.faster; break;
      case Change::slower: ++comparison.slower; break;
      case Change::ambiguous: ++comparison.ambiguous; break;
    }
  }
}

void conclude(Comparison& comparison) {
  const auto regressions = std::count_if(comparison.points.begin(), comparison.points.end(),
                                         [](const auto& point) { return point.regression; });
  const int pairs = static_cast<int>(comparison.points.size());
  if (regressions > 0 || !comparison.failed.empty()) {
    comparison.finding = Finding::regression;
    comparison.reason = str(regressions, regressions == 1 ? " point" : " points", " slower");
    if (!comparison.failed.empty()) {
      comparison.reason += str(", ", comparison.failed.size(), " that fail now");
    }
  } else if (pairs == 0) {
    comparison.reason = "no point has an ok row on both sides";
  } else if (2 * comparison.ambiguous > pairs) {
    comparison.reason = str(comparison.ambiguous, " of ", pairs, " points are ambiguous");
  } else {
    comparison.finding = Finding::no_regression;
    comparison.reason =
        comparison.slower == 0 ? "no point is slower" : "no point is slower by more than the limit";
  }
}

/// How points of two runs of one build differ: |ratio - 1| of each.
std::vector<double> differences(const MeasuredPoints& a, const MeasuredPoints& again) {
  std::vector<double> all;
  for (const auto& [key, index] : a.index_of) {
    const MeasuredPoint* other = again.find(key);
    if (other == nullptr || other->rows.empty() || a.points[index].rows.empty()) continue;
    const double ratio = other->time_us() / a.points[index].time_us();
    all.push_back(std::max(ratio, 1 / ratio) - 1);
  }
  return all;
}

/// Of points that are compared by all their repeats.
std::vector<double> repeat_spreads(const MeasuredPoints& side) {
  std::vector<double> all;
  for (const MeasuredPoint& point : side.points) {
    if (point.quiet()) continue;
    if (const auto spread = point.repeat_spread()) all.push_back(*spread);
  }
  return all;
}

NoiseFloor floor_of(const MeasuredPoints& a, const MeasuredPoints& b,
                    const CompareOptions& options) {
  NoiseFloor floor{kNoiseRelative, kNoiseAbsoluteUs, "default"};
  if (options.noise_relative) return {*options.noise_relative, 0, "given"};
  if (!options.again.empty()) {
    const auto noise = differences(a, measured_points(options.again));
    if (!noise.empty()) {
      return {quantile(noise, 0.99), kNoiseAbsoluteUs,
              str("99th percentile of ", noise.size(), " points of A measured again")};
    }
  }
  auto spreads = repeat_spreads(a);
  const auto more = repeat_spreads(b);
  spreads.insert(spreads.end(), more.begin(), more.end());
  if (spreads.size() < kCalibratingPoints) return floor;
  const double calibrated = quantile(spreads, 0.95);
  if (calibrated <= floor.relative) return floor;
  return {calibrated, kNoiseAbsoluteUs,
          str("95th percentile of the repeats of ", spreads.size(), " points")};
}

}  // namespace

Result<Comparison> compare(std::span<const Row> a, std::span<const Row> b,
                           const CompareOptions& options) {
  Comparison comparison;
  comparison.a = side_of(options.name_a, a);
  comparison.b = side_of(options.name_b, b);
  comparison.fail_over = options.fail_over;
  const bool both_measured = !comparison.a.machines.empty() && !comparison.b.machines.empty();
  if (both_measured && comparison.a.machines != comparison.b.machines && !options.across_machines) {
    return fail(ErrorKind::config, "unlike machines: A is of ",
                joined(comparison.a.machines, " and "), "; B is of ",
                joined(comparison.b.machines, " and "), "; --across-machines compares them anyway");
  }
  const MeasuredPoints measured_a = measured_points(a);
  const MeasuredPoints measured_b = measured_points(b);
  comparison.noise = floor_of(measured_a, measured_b, options);
  pair_up(measured_a, measured_b, comparison);
  count_changes(comparison);
  conclude(comparison);
  return comparison;
}

}  // namespace headsplit::coordinator
