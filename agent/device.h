#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/point.h"
#include "core/result.h"
#include "kernels/kernel.h"

namespace headsplit::agent {

/// What a device is; does not change while the process lives.
struct DeviceInfo {
  kernels::Backend backend = kernels::Backend::cpu;
  std::string name;
  std::string gpu_uuid;
  std::string driver;
  std::string cuda;
  std::int64_t memory_bytes = 0;  ///< free for inputs when the worker started
  std::int64_t last_level_cache_bytes = 0;
  int compute_units = 0;  ///< SMs, or CPU threads

  bool operator==(const DeviceInfo&) const = default;
};
BOOST_DESCRIBE_STRUCT(DeviceInfo, (),
                      (backend, name, gpu_uuid, driver, cuda, memory_bytes, last_level_cache_bytes,
                       compute_units))

/// Hardware counters of one launch.  What is absent has a reason, and is never 0.
struct Counts {
  std::optional<double> dram_bytes_read;
  std::optional<double> dram_bytes_written;
  std::optional<double> tensor_ops;
  std::optional<double> l2_bytes;
  std::optional<double> l2_hit_ratio;         ///< detail set only, as the next two
  std::optional<double> tensor_active_ratio;  ///< of the cycles that SMs were active
  std::optional<double> occupancy;            ///< active warps over the most there can be
  json::object all;                           ///< every counter by the vendor's name
  std::string reason;                         ///< why something is absent
};

/// Clocks, power and temperature at one moment, where the device tells.
struct DeviceState {
  std::optional<double> sm_clock_mhz;
  std::optional<double> memory_clock_mhz;
  std::optional<double> power_w;
  std::optional<double> energy_j;  ///< since some fixed moment: take differences
  std::optional<double> temperature_c;
  std::optional<bool> throttled;
  std::string throttle_reason;
};

/// The device of a worker, as the measuring protocol (run_point.h) sees it.  Blocking, one thread.
class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceInfo& info() const = 0;
  /// Fails: config (no such kernel, or it cannot run this problem), cuda (out of memory).
  virtual Result<std::unique_ptr<kernels::BoundKernel>> bind(const std::string& kernel,
                                                             const kernels::Problem& problem) = 0;
  /// Time of each of `launches` launches in microseconds, in order.  cold: the last-level cache is
  /// evicted before each, outside the timed span.
  virtual Result<std::vector<double>> time_us(kernels::BoundKernel& kernel, kernels::Part part,
                                              L2 l2, int launches) = 0;
  /// Counters of one cold launch, in a pass of its own: counting may disturb time.
  virtual Result<Counts> count(kernels::BoundKernel& kernel) = 0;
  virtual DeviceState state() = 0;
};

/// auto: CUDA where a GPU answers, else the CPU.
enum class BackendChoice { automatic, cuda, cpu };

/// Fails: config (this build has no CUDA), cuda (no GPU, driver too old; says which).
Result<std::unique_ptr<Device>> open_device(BackendChoice choice);

}  // namespace headsplit::agent
