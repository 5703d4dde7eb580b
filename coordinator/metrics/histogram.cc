#include "coordinator/metrics/histogram.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace headsplit::coordinator {

Histogram::Histogram(std::vector<double> bounds)
    : upper_bounds(std::move(bounds)),
      counts(upper_bounds.size() + 1),
      exemplars(upper_bounds.size() + 1) {}

void Histogram::observe(double value, std::optional<Exemplar> exemplar) {
  const auto bound = std::lower_bound(upper_bounds.begin(), upper_bounds.end(), value);
  const auto bucket = static_cast<std::size_t>(bound - upper_bounds.begin());
  counts[bucket] += 1;
  sum += value;
  if (exemplar) exemplars[bucket] = std::move(exemplar);
}

std::uint64_t Histogram::count() const {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::vector<double> log_bounds(double low, double high) {
  std::vector<double> bounds;
  const int last = static_cast<int>(std::lround(std::log10(high)));
  for (int power = static_cast<int>(std::lround(std::log10(low))); power < last; ++power) {
    // Read from text: the decimal number itself, and so the same label in every scrape.
    for (const char* digit : {"1", "2", "5"}) {
      bounds.push_back(std::stod(digit + ("e" + std::to_string(power))));
    }
  }
  bounds.push_back(std::stod("1e" + std::to_string(last)));
  return bounds;
}

}  // namespace headsplit::coordinator
