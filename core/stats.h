#pragma once

#include <span>
#include <vector>

namespace headsplit {

/// Summary of repeated measurements of one quantity, in the unit of the samples.
struct Summary {
  std::size_t count = 0;
  double median = 0;
  double p10 = 0;
  double p90 = 0;
  double mean = 0;
  double noise =
      0;  ///< relative standard error of the median: (ci_high - ci_low) / 2 / 1.96 / median
  double ci_low = 0;  ///< 95 % confidence interval of the median, by order statistics
  double ci_high = 0;

  bool operator==(const Summary&) const = default;
};

/// Quantile by linear interpolation between order statistics.  fraction: 0..1; samples: not empty,
/// any order.
double quantile(std::span<const double> samples, double fraction);

/// samples: not empty, any order.  With fewer than 6 samples no order statistics cover the median
/// with 95 %, and the interval is the whole range.
Summary summarise(std::span<const double> samples);

/// Geometric mean of positive values; not empty.
double geometric_mean(std::span<const double> values);

}  // namespace headsplit
