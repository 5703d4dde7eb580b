#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/row.h"

namespace headsplit::coordinator {

struct ThrottleCount {
  std::string reason;
  int rows = 0;

  bool operator==(const ThrottleCount&) const = default;
};
BOOST_DESCRIBE_STRUCT(ThrottleCount, (), (reason, rows))

/// What one machine was while its rows were measured: what `nvidia-smi` would have said, and the
/// builds that measured.  Enough to set up the same again; `headsplit reproduce` gives the command.
struct MachineFacts {
  std::string device;  ///< model name of the CPU or GPU
  std::string gpu_uuid;
  std::string node;
  std::string backend;
  std::string driver;
  std::string cuda;
  std::vector<std::string> builds;
  int rows_ok = 0;
  int rows_throttled = 0;
  std::vector<ThrottleCount> throttle_reasons;
  std::optional<double> sm_clock_low_mhz;
  std::optional<double> sm_clock_median_mhz;
  std::optional<double> sm_clock_high_mhz;
  std::optional<double> memory_clock_median_mhz;
  std::optional<double> power_median_w;
  std::optional<double> power_high_w;
  std::optional<double> temperature_high_c;
  std::optional<double> read_ceiling_gbps;  ///< median of what it measured of itself
  std::optional<double> matmul_ceiling_tflops;
  double first_unix_s = 0;
  double last_unix_s = 0;

  bool operator==(const MachineFacts&) const = default;
};
BOOST_DESCRIBE_STRUCT(MachineFacts, (),
                      (device, gpu_uuid, node, backend, driver, cuda, builds, rows_ok,
                       rows_throttled, throttle_reasons, sm_clock_low_mhz, sm_clock_median_mhz,
                       sm_clock_high_mhz, memory_clock_median_mhz, power_median_w, power_high_w,
                       temperature_high_c, read_ceiling_gbps, matmul_ceiling_tflops, first_unix_s,
                       last_unix_s))

/// Machines of the ok rows: rows of one device, GPU, node, driver and CUDA are of one.
std::vector<MachineFacts> machines_of(std::span<const Row* const> rows);

}  // namespace headsplit::coordinator
