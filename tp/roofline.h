#pragma once

#include <optional>

#include "core/row.h"
#include "tp/device.h"
#include "tp/work.h"

namespace headsplit::tp {

/// Speeds of the resources a kernel waits for.
struct Rates {
  double bf16_flop_per_us = 0;
  double fp8_flop_per_us = 0;                  ///< 0: no FP8 units, BF16 speed counts
  double byte_per_us = 0;                      ///< HBM
  std::optional<double> dequant_value_per_us;  ///< absent: not known for the device, no floor
  double floor_us = 0;                         ///< shortest launch of an attention kernel

  /// FLOP a byte where memory and tensor units take the same time.
  double ridge() const { return bf16_flop_per_us / byte_per_us; }
};

Rates rates_of(const Device& device);

/// Time of some work: the largest of what each resource needs, as each works while the others do.
struct Roofline {
  double time_us = 0;
  Limiter limiter = Limiter::unknown;
  double memory_us = 0;
  double tensor_us = 0;
  double dequant_us = 0;
  double overhead_us = 0;
};
Roofline roofline(const Work& work, const Rates& rates);

}  // namespace headsplit::tp
