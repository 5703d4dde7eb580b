#pragma once

#include "core/dynamic_library.h"

/// The part of NVIDIA's management library that we call, declared here: its header is not part of
/// the CUDA toolkit everywhere, and its binary interface is stable.
/// Source: NVML API reference, https://docs.nvidia.com/deploy/nvml-api/.
namespace headsplit::agent {

using NvmlResult = int;
constexpr NvmlResult kNvmlSuccess = 0;
constexpr NvmlResult kNvmlNotSupported = 3;

using NvmlDevice = struct NvmlDeviceOpaque*;

enum NvmlClock : int { kNvmlClockSm = 1, kNvmlClockMemory = 2 };
constexpr int kNvmlTemperatureGpu = 0;

struct NvmlMemory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct NvmlPciInfo {
  char bus_id_legacy[16];
  unsigned int domain;
  unsigned int bus;
  unsigned int device;
  unsigned int pci_device_id;
  unsigned int pci_subsystem_id;
  char bus_id[32];
};

/// A field asked for by number; `value` holds what `value_type` says.
struct NvmlFieldValue {
  unsigned int field_id;
  unsigned int scope_id;
  long long timestamp;
  long long latency_us;
  unsigned int value_type;
  NvmlResult result;
  union {
    double as_double;
    unsigned int as_unsigned;
    unsigned long as_unsigned_long;
    unsigned long long as_unsigned_long_long;
    long long as_long_long;
    int as_int;
  } value;
};
static_assert(sizeof(NvmlFieldValue) == 40);

constexpr unsigned int kNvmlLinksMax = 18;  ///< NVLinks of one GPU

/// What joins GPUs of several machines; the id is all zeros where nothing does.
struct NvmlFabricInfo {
  unsigned char cluster_uuid[16];
  NvmlResult status;
  unsigned int clique;
  unsigned char state;
};
constexpr unsigned char kNvmlFabricCompleted = 3;

constexpr unsigned int kNvmlFieldNvlinkDataSent = 138;      ///< KiB, of the link in scope_id
constexpr unsigned int kNvmlFieldNvlinkDataReceived = 139;  ///< the same
constexpr unsigned int kNvmlAllLinks = 0xFFFFFFFF;          ///< scope_id: sum over the links
constexpr unsigned int kNvmlFieldPowerInstant = 186;        ///< milliwatts, now; not a 1 s average

/// Bits of nvmlDeviceGetCurrentClocksEventReasons.
enum NvmlClockEvent : unsigned long long {
  kNvmlIdle = 0x1,
  kNvmlApplicationClocks = 0x2,
  kNvmlSoftwarePowerCap = 0x4,
  kNvmlHardwareSlowdown = 0x8,
  kNvmlSyncBoost = 0x10,
  kNvmlSoftwareThermal = 0x20,
  kNvmlHardwareThermal = 0x40,
  kNvmlHardwarePowerBrake = 0x80,
  kNvmlDisplayClocks = 0x100,
};

struct NvmlApi {
  NvmlResult (*initialise)() = nullptr;
  NvmlResult (*shutdown)() = nullptr;
  const char* (*error_text)(NvmlResult) = nullptr;
  NvmlResult (*driver_version)(char* text, unsigned int length) = nullptr;
  NvmlResult (*cuda_version)(int* version) = nullptr;
  NvmlResult (*device_count)(unsigned int* count) = nullptr;
  NvmlResult (*device_at)(unsigned int index, NvmlDevice* device) = nullptr;
  NvmlResult (*device_by_uuid)(const char* uuid, NvmlDevice* device) = nullptr;
  NvmlResult (*name)(NvmlDevice, char* text, unsigned int length) = nullptr;
  NvmlResult (*uuid)(NvmlDevice, char* text, unsigned int length) = nullptr;
  NvmlResult (*pci_info)(NvmlDevice, NvmlPciInfo* info) = nullptr;
  NvmlResult (*memory)(NvmlDevice, NvmlMemory* memory) = nullptr;
  NvmlResult (*clock)(NvmlDevice, int which, unsigned int* mhz) = nullptr;
  NvmlResult (*max_clock)(NvmlDevice, int which, unsigned int* mhz) = nullptr;
  NvmlResult (*energy)(NvmlDevice, unsigned long long* millijoules) = nullptr;
  NvmlResult (*temperature)(NvmlDevice, int sensor, unsigned int* celsius) = nullptr;
  NvmlResult (*clock_events)(NvmlDevice, unsigned long long* bits) = nullptr;
  NvmlResult (*field_values)(NvmlDevice, int count, NvmlFieldValue* values) = nullptr;
  NvmlResult (*power_limit)(NvmlDevice, unsigned int* milliwatts) = nullptr;
  NvmlResult (*ecc_mode)(NvmlDevice, unsigned int* current, unsigned int* pending) = nullptr;
  NvmlResult (*mig_mode)(NvmlDevice, unsigned int* current, unsigned int* pending) = nullptr;
  NvmlResult (*persistence)(NvmlDevice, unsigned int* mode) = nullptr;
  NvmlResult (*link_state)(NvmlDevice, unsigned int link, int* active) = nullptr;
  NvmlResult (*fabric)(NvmlDevice, NvmlFabricInfo* info) = nullptr;
};

/// Functions that newer drivers alone have stay nullptr.  Fails: io (no library, or one that lacks
/// what every version has).
Result<NvmlApi> load_nvml(const std::string& library);

}  // namespace headsplit::agent
