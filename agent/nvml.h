#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/device.h"
#include "core/result.h"

namespace headsplit::agent {

/// A GPU as the driver's management library describes it.  Absent: this driver does not tell.
struct GpuFacts {
  std::string name;
  std::string uuid;  ///< "GPU-8-4-4-4-12"
  std::string pci_bus_id;
  std::optional<std::int64_t> memory_bytes;
  std::optional<std::int64_t> memory_free_bytes;
  std::optional<bool> ecc;
  std::optional<bool> mig;
  std::optional<bool> persistence;
  std::optional<double> sm_clock_max_mhz;
  std::optional<double> memory_clock_max_mhz;
  std::optional<double> power_limit_w;

  bool operator==(const GpuFacts&) const = default;
};
BOOST_DESCRIBE_STRUCT(GpuFacts, (),
                      (name, uuid, pci_bus_id, memory_bytes, memory_free_bytes, ecc, mig,
                       persistence, sm_clock_max_mhz, memory_clock_max_mhz, power_limit_w))

/// A GPU's links to other GPUs.
struct NvLinks {
  int active = 0;
  std::string fabric;  ///< that spans machines, with the part of it; empty = none

  bool operator==(const NvLinks&) const = default;
};

/// NVML, loaded at run time.  It sees every GPU of the machine, whatever CUDA_VISIBLE_DEVICES says,
/// and creates no CUDA context.
class Nvml {
 public:
  /// Fails: io (no such library: no driver), cuda (the driver does not answer).
  static Result<Nvml> open(const std::string& library = "libnvidia-ml.so.1");

  std::string driver_version() const;  ///< "580.159.04", or empty
  std::string cuda_version() const;    ///< newest CUDA that the driver runs: "13.0", or empty

  /// All GPUs of this machine.  Fails: cuda.
  Result<std::vector<GpuFacts>> gpus() const;

  /// Clocks, power and temperature of one GPU now.  What cannot be read is absent.
  /// Fails: cuda (no GPU of that UUID).
  Result<DeviceState> state(const std::string& uuid) const;

  /// NVLinks of one GPU; none where the driver does not tell.  Fails: cuda (no GPU of that UUID).
  Result<NvLinks> links(const std::string& uuid) const;

  /// What its NVLinks have carried, in steps of 1 KiB.  Absent: it has none, or does not tell.
  /// Fails: cuda (no GPU of that UUID).
  Result<std::optional<LinkBytes>> link_bytes(const std::string& uuid) const;

 private:
  struct Library;
  explicit Nvml(std::shared_ptr<const Library> library);
  std::shared_ptr<const Library> library_;
};

/// Names of clock-event bits that hold the clock below what was asked for ("software power cap"),
/// joined with ", "; empty when there are none.  Idle and clocks set by a user are not among them.
std::string throttle_names(unsigned long long clock_events);

}  // namespace headsplit::agent
