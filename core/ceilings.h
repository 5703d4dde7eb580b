#pragma once

#include <optional>
#include <string>

#include "core/json.h"

namespace headsplit {

/// What one device reaches at best, measured on itself: the roof of the roofline.  Random data, no
/// datasheet.  What is absent has a reason, and is never 0.
struct Ceilings {
  std::string backend;  ///< cpu | cuda
  std::string device;   ///< model name of the CPU or GPU
  std::string gpu_uuid;
  std::optional<double> read_gbps;     ///< bytes read over time, far more than the last-level cache
  std::optional<double> copy_gbps;     ///< bytes read plus bytes written over time
  std::optional<double> bf16_tflops;   ///< GPU: dense bf16 matmul, fp32 accumulation
  std::optional<double> fp8_tflops;    ///< GPU: dense e4m3 matmul, fp32 accumulation
  std::optional<double> fp32_tflops;   ///< CPU: sgemm
  std::optional<double> sm_clock_mhz;  ///< while the bf16 matmul (CPU: sgemm) ran
  std::optional<double> memory_clock_mhz;
  std::optional<double> power_w;
  std::optional<bool> throttled;
  std::string throttle_reason;
  double measured_unix_s = 0;
  double wall_s = 0;   ///< what measuring took
  std::string reason;  ///< why something is absent

  bool operator==(const Ceilings&) const = default;
};
BOOST_DESCRIBE_STRUCT(Ceilings, (),
                      (backend, device, gpu_uuid, read_gbps, copy_gbps, bf16_tflops, fp8_tflops,
                       fp32_tflops, sm_clock_mhz, memory_clock_mhz, power_w, throttled,
                       throttle_reason, measured_unix_s, wall_s, reason))

}  // namespace headsplit
