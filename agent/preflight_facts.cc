#include <sys/statfs.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "agent/cpu_facts.h"
#include "agent/preflight.h"
#include "agent/profilers.h"
#include "core/cuda_libraries.h"
#include "core/dynamic_library.h"
#include "core/version.h"
#include "kernels/cpu/thread_pool.h"

namespace headsplit::agent {

namespace {

namespace fs = std::filesystem;

/// What a build without CUDA looks for.
constexpr int kNewestCudaMajor = 13;

struct DiskType {
  long magic;
  std::string_view name;
};
// From linux/magic.h and the file systems' own headers.
constexpr std::array kDiskTypes{
    DiskType{0xEF53, "ext4"},      DiskType{0x58465342, "xfs"},     DiskType{0x9123683E, "btrfs"},
    DiskType{0x01021994, "tmpfs"}, DiskType{0x794C7630, "overlay"}, DiskType{0x2FC12FC1, "zfs"},
    DiskType{0x6969, "nfs"},       DiskType{0xFF534D42, "cifs"},    DiskType{0xFE534D42, "smb2"},
    DiskType{0x00C36400, "ceph"},  DiskType{0x0BD00BD0, "lustre"},  DiskType{0x47504653, "gpfs"},
};

void ask_disk(PreflightFacts& facts) {
  struct statfs disk {};
  if (statfs(facts.disk_path.c_str(), &disk) != 0) return;
  facts.disk_free_bytes =
      static_cast<std::int64_t>(disk.f_bavail) * static_cast<std::int64_t>(disk.f_bsize);
  for (const auto& [magic, name] : kDiskTypes) {
    if (magic == static_cast<long>(disk.f_type)) facts.disk_type = name;
  }
}

void ask_cpu(PreflightFacts& facts) {
  facts.cpu = cpu_name(system_text("/proc/cpuinfo").value_or(""));
  facts.cpu_threads = kernels::available_threads();
  facts.memory_available_bytes =
      available_memory_bytes(system_text("/proc/meminfo").value_or("")).value_or(0);
  facts.cpu_governor =
      system_text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").value_or("");
  while (facts.cpu_governor.ends_with('\n')) facts.cpu_governor.pop_back();
}

/// The text after "key" on its line.
std::optional<std::string> line_value(const std::string& text, const std::string& key) {
  const std::size_t begin = text.find(key);
  if (begin == std::string::npos) return std::nullopt;
  std::string value = text.substr(begin + key.size(), text.find('\n', begin) - begin - key.size());
  value.erase(0, value.find_first_not_of(" \t"));
  return value;
}

void ask_permissions(PreflightFacts& facts) {
  constexpr unsigned kCapSysAdmin = 21;
  if (const auto params = system_text("/proc/driver/nvidia/params")) {
    if (const auto value = line_value(*params, "RmProfilingAdminOnly:")) {
      facts.counters_for_admins_only = *value != "0";
    }
  }
  const auto effective = line_value(system_text("/proc/self/status").value_or(""), "CapEff:");
  std::uint64_t bits = 0;
  if (effective) {
    std::from_chars(effective->data(), effective->data() + effective->size(), bits, 16);
  }
  facts.is_admin = (bits >> kCapSysAdmin & 1) != 0;
}

bool process_runs(std::string_view name) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const auto command = system_text(entry.path() / "comm");
    if (command && command->substr(0, command->find('\n')) == name) return true;
  }
  return false;
}

void ask_driver(PreflightFacts& facts) {
  const auto nvml = Nvml::open();
  if (!nvml) {
    facts.driver.text = nvml.error().message;
    return;
  }
  facts.driver = {true, nvml->driver_version()};
  facts.driver_cuda = nvml->cuda_version();
  const auto gpus = nvml->gpus();
  if (!gpus) {
    facts.driver = {false, gpus.error().message};
    return;
  }
  facts.gpus = *gpus;
  for (const GpuFacts& gpu : facts.gpus) {
    const auto state = nvml->state(gpu.uuid);
    facts.gpu_states.push_back(state ? *state : DeviceState{});
  }
}

Finding find_library(const std::vector<std::string>& names) {
  const auto library = DynamicLibrary::open(names);
  if (!library) return {false, library.error().message};
  return {true, library->name()};
}

}  // namespace

PreflightFacts preflight_facts(const std::string& disk_path) {
  PreflightFacts facts;
  // First, while this process has not touched the driver: it forks.
  facts.counters = try_counters();
  facts.build = version() + " (" + build_revision() + ")";
  facts.toolkit_cuda = toolkit_cuda_version();
  facts.build_has_cuda = !facts.toolkit_cuda.empty();
  facts.disk_path = disk_path;
  ask_cpu(facts);
  ask_disk(facts);
  ask_permissions(facts);
  ask_driver(facts);
  const auto environment = environment_variables();
  if (const auto visible = environment.find("CUDA_VISIBLE_DEVICES"); visible != environment.end()) {
    facts.visible_devices = visible->second;
  }
  facts.other_profiler = other_profiler(environment);
  facts.dcgm_running = process_runs("nv-hostengine");
  const int cuda_major =
      facts.build_has_cuda ? std::atoi(facts.toolkit_cuda.c_str()) : kNewestCudaMajor;
  facts.cublaslt = find_library(cuda_library_names("cublasLt", cuda_major));
  facts.blas = find_library({"libopenblas.so.0", "libopenblas.so"});
  facts.nccl = find_nccl();
  facts.mpi = find_mpi();
  return facts;
}

}  // namespace headsplit::agent
