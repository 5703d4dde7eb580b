#include "tp/held_out.h"

#include <algorithm>
#include <cmath>

namespace headsplit::tp {

double HeldOut::error() const { return std::abs(predicted_us / measured_us - 1); }

std::vector<HeldOut> held_out(const TimeModel& times, const std::vector<Measurement>& measured) {
  std::vector<HeldOut> all;
  for (const Measurement& one : measured) {
    const Estimate estimate = times.estimate(one.kernel, one.problem, one.work);
    if (estimate.source == Provenance::measured) continue;
    all.push_back(
        {one.kernel, one.label, one.time_us, estimate.time_us, estimate.basis, estimate.error});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const HeldOut& a, const HeldOut& b) { return a.error() > b.error(); });
  return all;
}

}  // namespace headsplit::tp
