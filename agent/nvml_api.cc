#include "agent/nvml_api.h"

namespace headsplit::agent {

namespace {

template <class Function>
void bind_optional(const DynamicLibrary& library, Function*& function, const char* symbol,
                   const char* older = nullptr) {
  function = reinterpret_cast<Function*>(library.find(symbol));
  if (function == nullptr && older != nullptr) {
    function = reinterpret_cast<Function*>(library.find(older));
  }
}

}  // namespace

Result<NvmlApi> load_nvml(const std::string& name) {
  const DynamicLibrary library = TRY(DynamicLibrary::open({name}));
  NvmlApi api;
  TRY(library.bind("nvmlInit_v2", api.initialise));
  TRY(library.bind("nvmlShutdown", api.shutdown));
  TRY(library.bind("nvmlErrorString", api.error_text));
  TRY(library.bind("nvmlDeviceGetCount_v2", api.device_count));
  TRY(library.bind("nvmlDeviceGetHandleByIndex_v2", api.device_at));
  TRY(library.bind("nvmlDeviceGetHandleByUUID", api.device_by_uuid));
  bind_optional(library, api.driver_version, "nvmlSystemGetDriverVersion");
  bind_optional(library, api.cuda_version, "nvmlSystemGetCudaDriverVersion_v2");
  bind_optional(library, api.name, "nvmlDeviceGetName");
  bind_optional(library, api.uuid, "nvmlDeviceGetUUID");
  bind_optional(library, api.pci_info, "nvmlDeviceGetPciInfo_v3");
  bind_optional(library, api.memory, "nvmlDeviceGetMemoryInfo");
  bind_optional(library, api.clock, "nvmlDeviceGetClockInfo");
  bind_optional(library, api.max_clock, "nvmlDeviceGetMaxClockInfo");
  bind_optional(library, api.energy, "nvmlDeviceGetTotalEnergyConsumption");
  bind_optional(library, api.temperature, "nvmlDeviceGetTemperature");
  bind_optional(library, api.clock_events, "nvmlDeviceGetCurrentClocksEventReasons",
                "nvmlDeviceGetCurrentClocksThrottleReasons");
  bind_optional(library, api.field_values, "nvmlDeviceGetFieldValues");
  bind_optional(library, api.power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  bind_optional(library, api.ecc_mode, "nvmlDeviceGetEccMode");
  bind_optional(library, api.mig_mode, "nvmlDeviceGetMigMode");
  bind_optional(library, api.persistence, "nvmlDeviceGetPersistenceMode");
  bind_optional(library, api.link_state, "nvmlDeviceGetNvLinkState");
  bind_optional(library, api.fabric, "nvmlDeviceGetGpuFabricInfo");
  return api;
}

}  // namespace headsplit::agent
