#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/point.h"
#include "core/result.h"
#include "kernels/kernel.h"
#include "kernels/reference.h"

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
  std::optional<double> l2_hit_ratio;         ///< detail set only, as the next three
  std::optional<double> tensor_active_ratio;  ///< of the cycles that SMs were active
  std::optional<double> issue_active_ratio;   ///< issue slots used, of the same cycles
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

/// Payload that went over a device's links to other devices since some fixed moment: take
/// differences.
struct LinkBytes {
  double sent = 0;
  double received = 0;

  bool operator==(const LinkBytes&) const = default;
};

/// Launches to be timed.
struct TimeRequest {
  kernels::Part part = kernels::Part::all;
  L2 l2 = L2::cold;  ///< cold: the last-level cache is evicted before each, outside the timed span
  int launches = 1;  ///< at least so many
};

struct Timed {
  std::vector<double> samples_us;  ///< one a launch, in order
  double gpu_s = 0;  ///< what the device worked for them, evictions between them included
};

/// How a launch is counted.
struct CountMode {
  bool detail = false;     ///< the detail set too: the kernel is launched again for each pass
  bool repeatable = true;  ///< false: one launch only (a rank of a gang)
};

/// The device of a worker, as the measuring protocol (run_point.h) sees it.  Blocking, one thread.
class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceInfo& info() const = 0;
  /// fixed_splits: parts of each request's context; 0: the kernel chooses.
  /// Fails: config (no such kernel, or it cannot run this problem), cuda (out of memory).
  virtual Result<std::unique_ptr<kernels::BoundKernel>> bind(const std::string& kernel,
                                                             const kernels::Problem& problem,
                                                             int fixed_splits = 0) = 0;
  /// The fp64 reference of some output rows: on the CPU, unless the device has something faster.
  virtual Result<std::vector<kernels::ReferenceRow>> reference_rows(
      const kernels::Problem& problem, std::span<const std::int64_t> rows) {
    return kernels::reference_rows(problem, rows);
  }
  /// Waits until nothing goes on in the background any more that would disturb times.
  virtual void settle() {}
  /// Fails: cuda, or as the kernel does.
  virtual Result<Timed> time(kernels::BoundKernel& kernel, const TimeRequest& request) = 0;
  /// One whole launch more, timed in the same way as those of `time`, whose outputs are poisoned
  /// right before it and left as it leaves them.  What a kernel writes only when it is not timed is
  /// seen by that.
  virtual Result<double> time_poisoned_us(kernels::BoundKernel& kernel, L2 l2) = 0;
  /// Counters of one cold launch, in a pass of its own: counting may disturb time.
  /// Fails: as the launch does; config (more launches than a gang allows).
  virtual Result<Counts> count(kernels::BoundKernel& kernel, const CountMode& mode) = 0;
  /// May be called by another thread while launches are timed.
  virtual DeviceState state() = 0;
  /// Absent: no links, or no counters of them.
  virtual std::optional<LinkBytes> link_bytes() { return std::nullopt; }
  /// False once nothing can be launched any more in this process: it must be replaced.
  virtual bool usable() { return true; }
  /// Evicts the last-level cache, where the device has one; a GPU enqueues that on its stream.
  virtual Result<void> evict() { return {}; }
  /// The cudaStream_t that kernels are bound to; null on the CPU.
  virtual void* stream() { return nullptr; }
};

/// auto: CUDA where a GPU answers, else the CPU.
enum class BackendChoice { automatic, cuda, cpu };

/// Fails: config (this build has no CUDA), cuda (no GPU, driver too old; says which).
Result<std::unique_ptr<Device>> open_device(BackendChoice choice);

}  // namespace headsplit::agent
