#include "coordinator/answers/bootstrap.h"

#include <algorithm>
#include <cstdint>

#include "core/check.h"
#include "core/stats.h"

namespace headsplit::coordinator {
namespace {

constexpr int kResamples = 1000;
constexpr double kTail = 0.005;  // of each end: 99 % are between

/// splitmix64, the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t count) {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return static_cast<std::size_t>((mixed ^ (mixed >> 31)) % count);
  }

 private:
  std::uint64_t state_;
};

double median_in_place(std::vector<double>& values) {
  const std::size_t middle = values.size() / 2;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(middle);
  std::nth_element(values.begin(), at, values.end());
  if (values.size() % 2 == 1) return *at;
  return (*at + *std::max_element(values.begin(), at)) / 2;
}

double resampled_median(std::span<const double> values, std::vector<double>& scratch,
                        Random& random) {
  scratch.resize(values.size());
  for (double& value : scratch) value = values[random.below(values.size())];
  return median_in_place(scratch);
}

}  // namespace

std::vector<double> batch_medians(std::span<const double> samples) {
  const std::size_t count = std::min(samples.size(), kBatchesMost);
  std::vector<double> medians;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = samples.size() * i / count;
    const std::size_t end = samples.size() * (i + 1) / count;
    medians.push_back(quantile(samples.subspan(begin, end - begin), 0.5));
  }
  return medians;
}

RatioInterval ratio_of_medians(std::span<const double> a, std::span<const double> b) {
  CHECK(!a.empty() && !b.empty());
  Random random(a.size() * 1000003 + b.size());
  std::vector<double> scratch;
  std::vector<double> ratios;
  ratios.reserve(kResamples);
  for (int i = 0; i < kResamples; ++i) {
    const double below = resampled_median(a, scratch, random);
    ratios.push_back(resampled_median(b, scratch, random) / below);
  }
  return {quantile(b, 0.5) / quantile(a, 0.5), quantile(ratios, kTail),
          quantile(ratios, 1 - kTail)};
}

}  // namespace headsplit::coordinator
