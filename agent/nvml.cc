#include "agent/nvml.h"

#include <array>

#include "agent/nvml_api.h"

namespace headsplit::agent {

namespace {

struct EventName {
  NvmlClockEvent bit;
  std::string_view name;
};
constexpr std::array kThrottleEvents{
    EventName{kNvmlSoftwarePowerCap, "software power cap"},
    EventName{kNvmlHardwareSlowdown, "hardware slowdown"},
    EventName{kNvmlSoftwareThermal, "software thermal slowdown"},
    EventName{kNvmlHardwareThermal, "hardware thermal slowdown"},
    EventName{kNvmlHardwarePowerBrake, "hardware power brake"},
};

/// What a getter writes through its last argument, or nothing when the driver lacks it or refuses.
template <class Value, class Function, class... Args>
std::optional<Value> read(Function* function, Args... args) {
  Value value{};
  if (function == nullptr || function(args..., &value) != kNvmlSuccess) return std::nullopt;
  return value;
}

template <class Function, class... Args>
std::string read_text(Function* function, Args... args) {
  std::array<char, 128> text{};
  if (function == nullptr || function(args..., text.data(), text.size() - 1) != kNvmlSuccess) {
    return {};
  }
  return text.data();
}

/// Modes come as (current, pending) pairs.
template <class Function>
std::optional<bool> read_mode(Function* function, NvmlDevice device) {
  unsigned int current = 0, pending = 0;
  if (function == nullptr || function(device, &current, &pending) != kNvmlSuccess) {
    return std::nullopt;
  }
  return current != 0;
}

std::optional<double> scaled(const auto& value, double factor) {
  if (!value) return std::nullopt;
  return static_cast<double>(*value) * factor;
}

std::optional<double> power_w(const NvmlApi& api, NvmlDevice device) {
  NvmlFieldValue field{};
  field.field_id = kNvmlFieldPowerInstant;
  if (api.field_values == nullptr || api.field_values(device, 1, &field) != kNvmlSuccess ||
      field.result != kNvmlSuccess) {
    return std::nullopt;
  }
  return field.value.as_unsigned * 1e-3;
}

/// Empty where no fabric spans machines.
std::string fabric_name(const NvmlFabricInfo& fabric) {
  if (fabric.state != kNvmlFabricCompleted || fabric.status != kNvmlSuccess) return "";
  std::string name;
  bool any = false;
  for (const unsigned char byte : fabric.cluster_uuid) {
    any = any || byte != 0;
    name += "0123456789abcdef"[byte / 16];
    name += "0123456789abcdef"[byte % 16];
  }
  return any ? str(name, ".", fabric.clique) : "";
}

}  // namespace

struct Nvml::Library {
  explicit Library(const NvmlApi& functions) : api(functions) {}
  Library(const Library&) = delete;
  ~Library() { api.shutdown(); }

  Error error(const char* call, NvmlResult result) const {
    return fail(ErrorKind::cuda, "NVML: ", call, ": ", api.error_text(result));
  }

  Result<NvmlDevice> device(const std::string& gpu_uuid) const {
    NvmlDevice found = nullptr;
    const NvmlResult result = api.device_by_uuid(gpu_uuid.c_str(), &found);
    if (result == kNvmlSuccess) return found;
    return within_context(gpu_uuid, error("nvmlDeviceGetHandleByUUID", result));
  }

  NvmlApi api;
};

Nvml::Nvml(std::shared_ptr<const Library> library) : library_(std::move(library)) {}

Result<Nvml> Nvml::open(const std::string& library) {
  const NvmlApi api = TRY(load_nvml(library));
  const NvmlResult result = api.initialise();
  if (result != kNvmlSuccess) {
    return fail(ErrorKind::cuda, "NVML: nvmlInit: ", api.error_text(result));
  }
  return Nvml(std::make_shared<const Library>(api));
}

std::string Nvml::driver_version() const { return read_text(library_->api.driver_version); }

std::string Nvml::cuda_version() const {
  const std::optional<int> version = read<int>(library_->api.cuda_version);
  return version ? str(*version / 1000, ".", *version % 1000 / 10) : std::string();
}

Result<std::vector<GpuFacts>> Nvml::gpus() const {
  const NvmlApi& api = library_->api;
  unsigned int count = 0;
  if (const NvmlResult result = api.device_count(&count); result != kNvmlSuccess) {
    return library_->error("nvmlDeviceGetCount", result);
  }
  std::vector<GpuFacts> gpus;
  for (unsigned int index = 0; index < count; ++index) {
    NvmlDevice device = nullptr;
    if (const NvmlResult result = api.device_at(index, &device); result != kNvmlSuccess) {
      return library_->error("nvmlDeviceGetHandleByIndex", result);
    }
    GpuFacts facts;
    facts.name = read_text(api.name, device);
    facts.uuid = read_text(api.uuid, device);
    if (const auto pci = read<NvmlPciInfo>(api.pci_info, device)) facts.pci_bus_id = pci->bus_id;
    if (const auto memory = read<NvmlMemory>(api.memory, device)) {
      facts.memory_bytes = static_cast<std::int64_t>(memory->total);
      facts.memory_free_bytes = static_cast<std::int64_t>(memory->free);
    }
    facts.ecc = read_mode(api.ecc_mode, device);
    facts.mig = read_mode(api.mig_mode, device);
    if (const auto mode = read<unsigned>(api.persistence, device)) facts.persistence = *mode != 0;
    facts.sm_clock_max_mhz = scaled(read<unsigned>(api.max_clock, device, kNvmlClockSm), 1);
    facts.memory_clock_max_mhz = scaled(read<unsigned>(api.max_clock, device, kNvmlClockMemory), 1);
    facts.power_limit_w = scaled(read<unsigned>(api.power_limit, device), 1e-3);
    gpus.push_back(facts);
  }
  return gpus;
}

Result<DeviceState> Nvml::state(const std::string& uuid) const {
  const NvmlApi& api = library_->api;
  const NvmlDevice device = TRY(library_->device(uuid));
  DeviceState state;
  state.sm_clock_mhz = scaled(read<unsigned>(api.clock, device, kNvmlClockSm), 1);
  state.memory_clock_mhz = scaled(read<unsigned>(api.clock, device, kNvmlClockMemory), 1);
  state.power_w = power_w(api, device);
  state.energy_j = scaled(read<unsigned long long>(api.energy, device), 1e-3);
  state.temperature_c = scaled(read<unsigned>(api.temperature, device, kNvmlTemperatureGpu), 1);
  if (const auto events = read<unsigned long long>(api.clock_events, device)) {
    state.throttle_reason = throttle_names(*events);
    state.throttled = !state.throttle_reason.empty();
  }
  return state;
}

Result<NvLinks> Nvml::links(const std::string& uuid) const {
  const NvmlApi& api = library_->api;
  const NvmlDevice device = TRY(library_->device(uuid));
  NvLinks links;
  for (unsigned int link = 0; link < kNvmlLinksMax; ++link) {
    links.active += read<int>(api.link_state, device, link).value_or(0) != 0 ? 1 : 0;
  }
  if (const auto fabric = read<NvmlFabricInfo>(api.fabric, device)) {
    links.fabric = fabric_name(*fabric);
  }
  return links;
}

Result<std::optional<LinkBytes>> Nvml::link_bytes(const std::string& uuid) const {
  const NvmlApi& api = library_->api;
  const NvmlDevice device = TRY(library_->device(uuid));
  std::array<NvmlFieldValue, 2> fields{};
  fields[0].field_id = kNvmlFieldNvlinkDataSent;
  fields[1].field_id = kNvmlFieldNvlinkDataReceived;
  for (NvmlFieldValue& field : fields) field.scope_id = kNvmlAllLinks;
  const bool told = api.field_values != nullptr &&
                    api.field_values(device, int(fields.size()), fields.data()) == kNvmlSuccess &&
                    fields[0].result == kNvmlSuccess && fields[1].result == kNvmlSuccess;
  if (!told) return std::optional<LinkBytes>();
  const auto bytes = [](const NvmlFieldValue& field) {
    return static_cast<double>(field.value.as_unsigned_long_long) * 1024;
  };
  return std::optional(LinkBytes{.sent = bytes(fields[0]), .received = bytes(fields[1])});
}

std::string throttle_names(unsigned long long clock_events) {
  std::string names;
  for (const auto& [bit, name] : kThrottleEvents) {
    if ((clock_events & bit) == 0) continue;
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return names;
}

}  // namespace headsplit::agent
