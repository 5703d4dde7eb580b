#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/row.h"

namespace headsplit::coordinator {

/// Repeats of a point from which on its least disturbed one is compared.
constexpr std::size_t kQuietRepeats = 3;

/// One point as one side measured it, its repeats together.
struct MeasuredPoint {
  /// What a point takes when nothing disturbs it.
  struct Quiet {
    double time_us = 0;  ///< least tenth percentile among the repeats
    double gap = 0;      ///< by how much the next one is above it, relative
  };

  std::string label;
  std::vector<const Row*> rows;    ///< ok, with a time
  std::string failure;             ///< of the first row that failed
  std::vector<double> batches_us;  ///< batch medians of all repeats

  double time_us() const;
  /// A power cap and other guests make launches longer, never shorter: of repeats that lie apart in
  /// time the least disturbed one counts, and how near another comes to it says how sure that is.
  /// None with fewer than kQuietRepeats.
  std::optional<Quiet> quiet() const;
  /// Median over the repeats that have it.
  std::optional<double> clock_mhz() const;
  /// The highest of the repeats: that of the least disturbed.
  std::optional<double> highest_clock_mhz() const;
  /// Largest over smallest time of the repeats, less 1; none with one repeat.
  std::optional<double> repeat_spread() const;
  std::vector<std::string> row_ids() const;
};

/// All points of some rows, in the order of the rows, and by their key.
struct MeasuredPoints {
  std::vector<MeasuredPoint> points;
  std::map<std::string, std::size_t> index_of;

  const MeasuredPoint* find(const std::string& key) const;
};

MeasuredPoints measured_points(std::span<const Row> rows);

}  // namespace headsplit::coordinator
