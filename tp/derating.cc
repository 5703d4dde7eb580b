#include <algorithm>
#include <array>
#include <cmath>

#include "tp/correction.h"

namespace headsplit::tp {
namespace {

/// floor, tensor efficiency, memory efficiency.
using Parameters = std::array<double, 3>;

Derating derating_of(const Parameters& p) {
  return {.floor_us = p[0], .tensor_efficiency = p[1], .memory_efficiency = p[2]};
}

double loss(const Parameters& parameters, const std::vector<Roofline>& lines,
            const std::vector<double>& measured_us) {
  const Derating derating = derating_of(parameters);
  double sum = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    sum += std::abs(std::log(derating.time_us(lines[i]) / measured_us[i]));
  }
  return sum;
}

Parameters clamped(Parameters p) {
  constexpr double kFloorMaxUs = 1e4;
  constexpr double kEfficiencyMin = 1e-3;
  constexpr double kEfficiencyMax = 1.2;  // a data sheet may be beaten a little by boost clocks
  p[0] = std::clamp(p[0], 0.1, kFloorMaxUs);
  p[1] = std::clamp(p[1], kEfficiencyMin, kEfficiencyMax);
  p[2] = std::clamp(p[2], kEfficiencyMin, kEfficiencyMax);
  return p;
}

}  // namespace

double Derating::time_us(const Roofline& line) const {
  const double memory_us = line.memory_us / memory_efficiency;
  const double compute_us = std::max(line.tensor_us, line.dequant_us) / tensor_efficiency;
  return floor_us + std::max(memory_us, compute_us);
}

Derating fit_derating(const std::vector<Roofline>& lines, const std::vector<double>& measured_us) {
  // Coordinate descent by factors that shrink: three smooth unknowns need nothing finer.
  constexpr double kFactorMin = 1.001;
  Parameters best = {*std::min_element(measured_us.begin(), measured_us.end()) / 2, 0.7, 0.85};
  best = clamped(best);
  double best_loss = loss(best, lines, measured_us);
  for (double factor = 2; factor > kFactorMin;) {
    bool improved = false;
    for (std::size_t i = 0; i < best.size(); ++i) {
      for (const double scale : {factor, 1 / factor}) {
        Parameters trial = best;
        trial[i] *= scale;
        trial = clamped(trial);
        const double trial_loss = loss(trial, lines, measured_us);
        if (trial_loss >= best_loss - 1e-12) continue;
        best = trial;
        best_loss = trial_loss;
        improved = true;
      }
    }
    if (!improved) factor = std::sqrt(factor);
  }
  return derating_of(best);
}

}  // namespace headsplit::tp
