#pragma once

#include <compare>
#include <map>
#include <string>
#include <tuple>

#include "coordinator/metrics/metrics_input.h"
#include "core/row.h"

namespace headsplit::coordinator {

/// What the layouts of one sweep reach, kept up to date row by row.
class SweepFigures {
 public:
  /// Rows that are not ok, or have no time, change nothing.
  void add(const Row& row);

  const std::map<LayoutKey, LayoutFigures>& layouts() const { return layouts_; }

 private:
  /// What must be equal for two layouts to be compared: all of a point but its layout, and the
  /// device.
  struct Cell {
    std::string model;
    std::string kernel;
    std::string device;
    KvDtype kv_dtype;
    Ranks ranks;
    Lengths lengths;
    L2 l2;
    int batch;
    int query_tokens;
    std::int64_t context;
    int repeat;
    int top_k;

    auto operator<=>(const Cell&) const = default;
  };
  /// One row of a cell.
  struct Entry {
    double time_us = 0;
    std::optional<double> intensity_model;
    std::optional<double> intensity_measured;
    std::optional<double> kv_bytes;  ///< of one rank
  };
  static Cell cell_of(const Row& row);
  void compare(const LayoutKey& key, const Entry& entry, const Entry& alone);

  std::map<Cell, std::map<LayoutKey, Entry>> cells_;
  std::map<LayoutKey, LayoutFigures> layouts_;
};

}  // namespace headsplit::coordinator
