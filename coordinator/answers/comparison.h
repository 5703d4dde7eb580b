#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/row.h"

namespace headsplit::coordinator {

/// B against A at one point.
enum class Change { same, faster, slower, ambiguous };
BOOST_DESCRIBE_ENUM(Change, same, faster, slower, ambiguous)

/// no_regression: exit 0.  regression: 1.  cannot_tell: 2.
enum class Finding { no_regression, regression, cannot_tell };
BOOST_DESCRIBE_ENUM(Finding, no_regression, regression, cannot_tell)

/// Times of one build and machine differ by this much from run to run.
struct NoiseFloor {
  double relative = 0;
  double absolute_us = 0;
  std::string basis;  ///< where it is from

  double at(double time_us) const {
    return absolute_us > relative * time_us ? absolute_us / time_us : relative;
  }
  bool operator==(const NoiseFloor&) const = default;
};
BOOST_DESCRIBE_STRUCT(NoiseFloor, (), (relative, absolute_us, basis))

/// Two runs of one build on an H200 (evidence/h200/aa-short-run*.jsonl.gz): the least disturbed of
/// five repeats differ by less than 1 % where launches take 200 us and more; shorter ones, whose
/// launch costs something else in each process, by 0.64 us at the 99th percentile of those below
/// 50 us.
constexpr double kNoiseRelative = 0.01;
constexpr double kNoiseAbsoluteUs = 0.65;
/// Repeats of so many points say more of the noise than the default does.
constexpr std::size_t kCalibratingPoints = 20;

/// One point that both sides measured.
struct PointComparison {
  std::string point;  ///< "mla_dense tp4 B=64 T=1 L=8192 bf16"
  Change change = Change::ambiguous;
  bool regression = false;  ///< slower, by more than fail_over
  double a_us = 0;          ///< median over repeats and samples, or of the least disturbed repeat
  double b_us = 0;
  double ratio = 1;  ///< b over a
  double ratio_low = 1;
  double ratio_high = 1;
  std::optional<double> cycle_ratio;  ///< time x SM clock, b over a
  double noise = 0;                   ///< the floor at this time
  std::string reason;                 ///< why it is ambiguous
  std::vector<std::string> rows_a;    ///< point ids
  std::vector<std::string> rows_b;

  bool operator==(const PointComparison&) const = default;
};
BOOST_DESCRIBE_STRUCT(PointComparison, (),
                      (point, change, regression, a_us, b_us, ratio, ratio_low, ratio_high,
                       cycle_ratio, noise, reason, rows_a, rows_b))

/// A point that one side lacks.
struct UnpairedPoint {
  std::string point;
  std::string reason;  ///< "failed: ..." or "no row"

  bool operator==(const UnpairedPoint&) const = default;
};
BOOST_DESCRIBE_STRUCT(UnpairedPoint, (), (point, reason))

/// What was measured where with what.
struct Side {
  std::string name;
  std::vector<std::string> machines;
  std::vector<std::string> builds;
  std::size_t rows = 0;

  bool operator==(const Side&) const = default;
};
BOOST_DESCRIBE_STRUCT(Side, (), (name, machines, builds, rows))

struct Comparison {
  Side a;
  Side b;
  NoiseFloor noise;
  double fail_over = 0;
  Finding finding = Finding::cannot_tell;
  std::string reason;
  int same = 0;
  int faster = 0;
  int slower = 0;
  int ambiguous = 0;
  std::vector<PointComparison> points;  ///< in the order of A
  std::vector<UnpairedPoint> failed;    ///< ok in A, failed in B
  std::vector<UnpairedPoint> only_a;
  std::vector<UnpairedPoint> only_b;

  bool operator==(const Comparison&) const = default;
};
BOOST_DESCRIBE_STRUCT(Comparison, (),
                      (a, b, noise, fail_over, finding, reason, same, faster, slower, ambiguous,
                       points, failed, only_a, only_b))

struct CompareOptions {
  std::string name_a = "A";
  std::string name_b = "B";
  double fail_over = 0;                  ///< slow-downs up to this are no regression
  std::optional<double> noise_relative;  ///< instead of the default and of what repeats say
  std::vector<Row> again;                ///< A once more: how it differs from A is noise
  bool across_machines = false;
};

/// Rows of B against rows of A, point by point.  A point with three repeats or more on both sides
/// by its least disturbed repeat on each; others by all repeats together, each row by medians of
/// batches of its samples (by its time, where it has none).
/// Fails: config (machines differ and `across_machines` is not set).
Result<Comparison> compare(std::span<const Row> a, std::span<const Row> b,
                           const CompareOptions& options);

/// For people: what is not the same, then the counts and the finding.
std::string comparison_text(const Comparison& comparison);
std::string comparison_markdown(const Comparison& comparison);
/// One test case a point: a regression is a failure, an ambiguous point is skipped.
std::string comparison_junit(const Comparison& comparison);

}  // namespace headsplit::coordinator
