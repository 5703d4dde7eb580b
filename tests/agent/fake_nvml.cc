// A management library with two GPUs, for tests.  $FAKE_NVML_INIT: result of nvmlInit;
// $FAKE_NVML_DEVICE: result of looking for a GPU that is there.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "agent/nvml_api.h"

namespace {

using headsplit::agent::NvmlDevice;
using headsplit::agent::NvmlFabricInfo;
using headsplit::agent::NvmlFieldValue;
using headsplit::agent::NvmlMemory;
using headsplit::agent::NvmlPciInfo;
using headsplit::agent::NvmlResult;

constexpr NvmlResult kInvalidArgument = 2;
constexpr NvmlResult kNotSupported = headsplit::agent::kNvmlNotSupported;
constexpr NvmlResult kNotFound = 6;

NvmlDevice device_number(unsigned int index) {
  return reinterpret_cast<NvmlDevice>(std::size_t{index} + 1);
}
bool is_second(NvmlDevice device) { return device == device_number(1); }

}  // namespace

extern "C" {

NvmlResult nvmlInit_v2() {
  const char* result = std::getenv("FAKE_NVML_INIT");
  return result != nullptr ? std::atoi(result) : 0;
}
NvmlResult nvmlShutdown() { return 0; }
const char* nvmlErrorString(NvmlResult result) {
  if (result == 15) return "GPU is lost";
  return result == 9 ? "Driver Not Loaded" : result == kNotFound ? "Not Found" : "Other";
}
NvmlResult nvmlSystemGetDriverVersion(char* text, unsigned int length) {
  std::snprintf(text, length, "580.1.2");
  return 0;
}
NvmlResult nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = 2;
  return 0;
}
NvmlResult nvmlDeviceGetHandleByIndex_v2(unsigned int index, NvmlDevice* device) {
  if (index > 1) return kInvalidArgument;
  *device = device_number(index);
  return 0;
}
NvmlResult nvmlDeviceGetHandleByUUID(const char* uuid, NvmlDevice* device) {
  if (std::strcmp(uuid, "GPU-one") != 0 && std::strcmp(uuid, "GPU-two") != 0) return kNotFound;
  *device = device_number(std::strcmp(uuid, "GPU-two") == 0 ? 1 : 0);
  const char* result = std::getenv("FAKE_NVML_DEVICE");
  return result != nullptr ? std::atoi(result) : 0;
}
NvmlResult nvmlDeviceGetName(NvmlDevice, char* text, unsigned int length) {
  std::snprintf(text, length, "Fake H200");
  return 0;
}
NvmlResult nvmlDeviceGetUUID(NvmlDevice device, char* text, unsigned int length) {
  std::snprintf(text, length, "%s", is_second(device) ? "GPU-two" : "GPU-one");
  return 0;
}
NvmlResult nvmlDeviceGetPciInfo_v3(NvmlDevice device, NvmlPciInfo* info) {
  std::snprintf(info->bus_id, sizeof info->bus_id, "00000000:0%d:00.0", is_second(device) ? 2 : 1);
  return 0;
}
NvmlResult nvmlDeviceGetMemoryInfo(NvmlDevice, NvmlMemory* memory) {
  *memory = {.total = 1000, .free = 600, .used = 400};
  return 0;
}
NvmlResult nvmlDeviceGetClockInfo(NvmlDevice, int which, unsigned int* mhz) {
  *mhz = which == headsplit::agent::kNvmlClockSm ? 1755 : 3201;
  return 0;
}
NvmlResult nvmlDeviceGetMaxClockInfo(NvmlDevice, int which, unsigned int* mhz) {
  *mhz = which == headsplit::agent::kNvmlClockSm ? 1980 : 3201;
  return 0;
}
NvmlResult nvmlDeviceGetTemperature(NvmlDevice, int, unsigned int* celsius) {
  *celsius = 41;
  return 0;
}
NvmlResult nvmlDeviceGetMigMode(NvmlDevice device, unsigned int* current, unsigned int* pending) {
  *current = *pending = is_second(device) ? 1 : 0;
  return 0;
}

#ifdef FAKE_NVML_OLD

// An old driver: the throttle call by its first name, no energy, power or field values.
NvmlResult nvmlDeviceGetCurrentClocksThrottleReasons(NvmlDevice, unsigned long long* bits) {
  *bits = headsplit::agent::kNvmlIdle;
  return 0;
}

#else

NvmlResult nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 13010;
  return 0;
}
NvmlResult nvmlDeviceGetTotalEnergyConsumption(NvmlDevice device, unsigned long long* millijoules) {
  if (is_second(device)) return kNotSupported;
  *millijoules = 2500;
  return 0;
}
NvmlResult nvmlDeviceGetCurrentClocksEventReasons(NvmlDevice device, unsigned long long* bits) {
  *bits = is_second(device)
              ? headsplit::agent::kNvmlApplicationClocks
              : headsplit::agent::kNvmlSoftwarePowerCap | headsplit::agent::kNvmlHardwareThermal;
  return 0;
}
NvmlResult nvmlDeviceGetFieldValues(NvmlDevice device, int count, NvmlFieldValue* values) {
  for (int i = 0; i < count; ++i) {
    const unsigned int field = values[i].field_id;
    const bool link = field == headsplit::agent::kNvmlFieldNvlinkDataSent ||
                      field == headsplit::agent::kNvmlFieldNvlinkDataReceived;
    const bool known = field == headsplit::agent::kNvmlFieldPowerInstant ||
                       (link && values[i].scope_id == headsplit::agent::kNvmlAllLinks);
    values[i].result = known && !is_second(device) ? 0 : kNotSupported;
    values[i].value.as_unsigned_long_long = link ? field : 512'300;
  }
  return 0;
}
NvmlResult nvmlDeviceGetEnforcedPowerLimit(NvmlDevice, unsigned int* milliwatts) {
  *milliwatts = 700'000;
  return 0;
}
NvmlResult nvmlDeviceGetEccMode(NvmlDevice, unsigned int* current, unsigned int* pending) {
  *current = *pending = 1;
  return 0;
}
NvmlResult nvmlDeviceGetNvLinkState(NvmlDevice device, unsigned int link, int* active) {
  if (link >= 4) return kInvalidArgument;
  *active = is_second(device) || link > 0 ? 1 : 0;
  return 0;
}
NvmlResult nvmlDeviceGetGpuFabricInfo(NvmlDevice device, NvmlFabricInfo* info) {
  *info = {.cluster_uuid = {}, .status = 0, .clique = 7, .state = 3};
  if (is_second(device)) info->cluster_uuid[15] = 0xAB;
  return 0;
}
NvmlResult nvmlDeviceGetPersistenceMode(NvmlDevice, unsigned int* mode) {
  *mode = 0;
  return 0;
}

#endif

}  // extern "C"
