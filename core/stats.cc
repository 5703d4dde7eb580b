#include "core/stats.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/check.h"

namespace headsplit {
namespace {

constexpr double kNormal95 = 1.959964;

double quantile_of_sorted(std::span<const double> sorted, double fraction) {
  const double at = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

}  // namespace

double quantile(std::span<const double> samples, double fraction) {
  CHECK(!samples.empty() && fraction >= 0 && fraction <= 1);
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  return quantile_of_sorted(sorted, fraction);
}

Summary summarise(std::span<const double> samples) {
  CHECK(!samples.empty());
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  const auto count = static_cast<double>(sorted.size());
  Summary summary;
  summary.count = sorted.size();
  summary.median = quantile_of_sorted(sorted, 0.5);
  summary.p10 = quantile_of_sorted(sorted, 0.1);
  summary.p90 = quantile_of_sorted(sorted, 0.9);
  summary.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / count;
  // The ranks of the interval follow the normal approximation of the binomial(n, 1/2).
  const double reach = kNormal95 * std::sqrt(count) / 2;
  const auto low = static_cast<std::size_t>(std::max(0.0, std::floor((count - 1) / 2 - reach)));
  const std::size_t high = sorted.size() - 1 - low;
  summary.ci_low = sorted[low];
  summary.ci_high = sorted[high];
  if (summary.median != 0) {
    summary.noise = (summary.ci_high - summary.ci_low) / (2 * kNormal95) / std::abs(summary.median);
  }
  return summary;
}

double geometric_mean(std::span<const double> values) {
  CHECK(!values.empty());
  double sum_log = 0;
  for (const double value : values) {
    CHECK(value > 0);
    sum_log += std::log(value);
  }
  return std::exp(sum_log / static_cast<double>(values.size()));
}

}  // namespace headsplit
