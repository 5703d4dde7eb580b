#pragma once

#include <string>
#include <vector>

#include "tp/correction.h"

namespace headsplit::tp {

/// A time that was measured, beside what a model says that has not seen it.
struct HeldOut {
  std::string kernel;
  std::string label;
  double measured_us = 0;
  double predicted_us = 0;
  std::string basis;
  double expected_error = 0;

  /// |predicted / measured - 1|
  double error() const;
};
BOOST_DESCRIBE_STRUCT(HeldOut, (),
                      (kernel, label, measured_us, predicted_us, basis, expected_error))

/// Each measurement of which `times` has no row, the worst first.
std::vector<HeldOut> held_out(const TimeModel& times, const std::vector<Measurement>& measured);

}  // namespace headsplit::tp
