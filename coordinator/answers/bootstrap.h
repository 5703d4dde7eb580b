#pragma once

#include <span>
#include <vector>

namespace headsplit::coordinator {

/// A ratio and the interval that holds it with 99 %.
struct RatioInterval {
  double ratio = 1;
  double low = 1;
  double high = 1;
};

/// Most batches that the samples of one row are cut into.
constexpr std::size_t kBatchesMost = 24;

/// Medians of neighbouring samples: what is left of a series when samples beside each other are
/// alike because of the clock or the temperature, so that they cannot count as independent.
/// samples: in the order they were taken, not empty.  Gives min(count, kBatchesMost) values.
std::vector<double> batch_medians(std::span<const double> samples);

/// Median of b over median of a, by 1000 seeded resamples of both: equal input, equal output.
/// a, b: not empty, above 0.  With one value on each side the interval is the ratio itself.
RatioInterval ratio_of_medians(std::span<const double> a, std::span<const double> b);

}  // namespace headsplit::coordinator
