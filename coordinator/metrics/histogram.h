#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headsplit::coordinator {

/// One observation of many, and the row it belongs to.
struct Exemplar {
  std::string row;  ///< "sweep=<plan id>&row=<point id>": what follows the # in the page's address
  double value = 0;
  double unix_s = 0;

  bool operator==(const Exemplar&) const = default;
};

/// Counts of observations by size.
struct Histogram {
  std::vector<double> upper_bounds;                ///< ascending, without infinity
  std::vector<std::uint64_t> counts;               ///< of each bucket alone; one more: the rest
  std::vector<std::optional<Exemplar>> exemplars;  ///< latest of each bucket
  double sum = 0;

  explicit Histogram(std::vector<double> bounds);

  /// exemplar: when given, its value is `value`.
  void observe(double value, std::optional<Exemplar> exemplar = {});
  std::uint64_t count() const;
  bool operator==(const Histogram&) const = default;
};

/// 1, 2 and 5 times each power of ten from `low` up to `high`, both powers of ten.
std::vector<double> log_bounds(double low, double high);

}  // namespace headsplit::coordinator
