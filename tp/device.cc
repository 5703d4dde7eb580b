#include "tp/device.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "core/nearest.h"
#include "tp/config_files.h"
#include "tp/yaml_fields.h"

namespace headsplit::tp {
namespace {

const std::vector<std::string> kFields = {"title",
                                          "reported_as",
                                          "bf16_tflops",
                                          "fp8_tflops",
                                          "hbm_gbps",
                                          "memory_gb",
                                          "l2_mb",
                                          "link_gbps",
                                          "sm_count",
                                          "clock_mhz",
                                          "fp8_dequant_cycles_per_token",
                                          "kernel_floor_us",
                                          "sources"};
/// No peak of zero: everything is divided by one sooner or later.
constexpr double kSmallest = 1e-3;

Result<Device> device_from(const std::string& name, const YAML::Node& node,
                           const std::string& file) {
  const YamlFields fields(node, file, name);
  TRY(fields.only(kFields));
  Device device{.name = name};
  device.title = TRY(fields.text("title"));
  device.reported_as = TRY(fields.texts("reported_as"));
  device.bf16_tflops = TRY(fields.number("bf16_tflops", kSmallest));
  device.fp8_tflops = TRY(fields.optional_number("fp8_tflops", kSmallest));
  device.hbm_gbps = TRY(fields.number("hbm_gbps", kSmallest));
  device.memory_gb = TRY(fields.number("memory_gb", kSmallest));
  device.l2_mb = TRY(fields.number("l2_mb", 0));
  device.link_gbps = TRY(fields.number("link_gbps", kSmallest));
  device.sm_count = static_cast<int>(TRY(fields.number("sm_count", 1)));
  device.clock_mhz = TRY(fields.number("clock_mhz", 1));
  device.fp8_dequant_cycles_per_token =
      TRY(fields.optional_number("fp8_dequant_cycles_per_token", kSmallest));
  device.kernel_floor_us = TRY(fields.number("kernel_floor_us", 0));
  device.sources = TRY(fields.texts("sources"));
  return device;
}

}  // namespace

Result<std::vector<Device>> devices_from_yaml(const std::string& text, const std::string& file) {
  YAML::Node top;
  try {
    top = YAML::Load(text);
  } catch (const YAML::Exception& error) {
    return fail(ErrorKind::config, file, ":", error.mark.line + 1, ":", error.mark.column + 1,
                ": not YAML: ", error.msg);
  }
  if (!top.IsMap()) return fail(ErrorKind::config, file, ": expected a mapping of device names");
  std::vector<Device> devices;
  for (const auto& entry : top) {
    if (!entry.first.IsScalar()) return fail(ErrorKind::config, file, ": a name is not a text");
    devices.push_back(TRY(device_from(entry.first.Scalar(), entry.second, file)));
  }
  return devices;
}

Result<std::vector<Device>> read_devices() {
  const auto file = TRY(configs_folder()) / "devices.yaml";
  const std::string text = TRY(file_text(file));
  return devices_from_yaml(text, file.string());
}

Result<Device> read_device(const std::string& name) {
  const auto devices = TRY(read_devices());
  std::vector<std::string> names;
  for (const auto& device : devices) {
    const auto& reported = device.reported_as;
    const bool is_reported = std::find(reported.begin(), reported.end(), name) != reported.end();
    if (device.name == name || is_reported) return device;
    names.push_back(device.name);
  }
  return fail(ErrorKind::config, "device '", name, "': unknown", did_you_mean(name, names));
}

Device with_ceilings(Device device, const Ceilings& ceilings) {
  if (ceilings.bf16_tflops) device.bf16_tflops = *ceilings.bf16_tflops;
  if (ceilings.fp8_tflops) device.fp8_tflops = ceilings.fp8_tflops;
  if (ceilings.read_gbps) device.hbm_gbps = *ceilings.read_gbps;
  const bool any = ceilings.bf16_tflops || ceilings.fp8_tflops || ceilings.read_gbps;
  if (any) {
    device.provenance = Provenance::measured;
    device.sources.push_back("peaks and HBM measured on this GPU replace the data sheet");
  }
  return device;
}

}  // namespace headsplit::tp
