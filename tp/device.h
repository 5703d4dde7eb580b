#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/ceilings.h"
#include "core/row.h"

namespace headsplit::tp {

/// A GPU by its data sheet.  Peaks are dense (no structured sparsity), FP32 accumulation.
struct Device {
  std::string name;
  std::string title;
  std::vector<std::string> reported_as;  ///< how drivers name it
  double bf16_tflops = 0;
  std::optional<double> fp8_tflops;  ///< absent: no FP8 tensor units
  double hbm_gbps = 0;
  double memory_gb = 0;  ///< 10^9 bytes
  double l2_mb = 0;      ///< 10^6 bytes
  double link_gbps = 0;  ///< to the other GPUs of the host, one direction
  int sm_count = 0;
  double clock_mhz = 0;                                ///< at which the peaks hold
  std::optional<double> fp8_dequant_cycles_per_token;  ///< of one SM, for 512 values
  double kernel_floor_us = 0;                          ///< shortest attention launch seen
  std::vector<std::string> sources;
  Provenance provenance = Provenance::model;  ///< measured once ceilings replaced the data sheet

  bool operator==(const Device&) const = default;
};

/// A device by its name in configs/devices.yaml, or as a driver reports it ("NVIDIA H200").
/// Fails: config (unknown, with the nearest and all names; a fault in the file, with its line), io.
Result<Device> read_device(const std::string& name);

/// All devices of the file, in its order.
Result<std::vector<Device>> read_devices();

/// The devices of such a text.  `file` is only named in errors.
Result<std::vector<Device>> devices_from_yaml(const std::string& text, const std::string& file);

/// The same device with what was measured in place of the data sheet.
Device with_ceilings(Device device, const Ceilings& ceilings);

}  // namespace headsplit::tp
