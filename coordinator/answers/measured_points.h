#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/row.h"

namespace headsplit::coordinator {

/// One point as one side measured it, its repeats together.
struct MeasuredPoint {
  std::string label;
  std::vector<const Row*> rows;    ///< ok, with a time
  std::string failure;             ///< of the first row that failed
  std::vector<double> batches_us;  ///< batch medians of all repeats

  double time_us() const;
  /// Median over the repeats that have it.
  std::optional<double> clock_mhz() const;
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
