#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/device.h"
#include "agent/nvml.h"
#include "core/found_library.h"

namespace headsplit::agent {

enum class CheckState { ok, degraded, missing };
BOOST_DESCRIBE_ENUM(CheckState, ok, degraded, missing)

/// One thing that a run wants of this machine.
struct Check {
  std::string name;
  CheckState state = CheckState::ok;
  bool needed = false;  ///< runs of the chosen backend do not start without it
  std::string found;
  std::string remedy;  ///< what to do; empty when ok

  bool operator==(const Check&) const = default;
};
BOOST_DESCRIBE_STRUCT(Check, (), (name, state, needed, found, remedy))

/// What this machine tells about itself.
struct PreflightFacts {
  std::string build;
  bool build_has_cuda = false;
  std::string toolkit_cuda;  ///< CUDA that the build was made with: "13.0"
  std::string cpu;
  int cpu_threads = 0;
  std::string cpu_governor;  ///< empty where the kernel has none
  std::int64_t memory_available_bytes = 0;
  std::string disk_path;
  std::string disk_type;  ///< "ext4", "nfs", ...; empty when unknown
  std::int64_t disk_free_bytes = 0;

  Finding driver;           ///< of the management library
  std::string driver_cuda;  ///< newest CUDA that the driver runs
  std::vector<GpuFacts> gpus;
  std::vector<DeviceState> gpu_states;           ///< of each of `gpus`
  std::optional<std::string> visible_devices;    ///< $CUDA_VISIBLE_DEVICES
  std::optional<bool> counters_for_admins_only;  ///< RmProfilingAdminOnly
  bool is_admin = false;                         ///< CAP_SYS_ADMIN
  std::string other_profiler;                    ///< in this process, or empty
  bool dcgm_running = false;                     ///< a host engine may hold the counters
  Finding counters;                              ///< opened for real, in a child process
  Finding cublaslt, nccl, mpi, blas;
};

/// Ask the machine.  disk_path: where databases and evidence will be written.  Creates a CUDA
/// context in a short-lived child, if there is a GPU, to open the counters for real.
PreflightFacts preflight_facts(const std::string& disk_path);

/// What the facts mean for runs on that backend.
std::vector<Check> preflight_checks(const PreflightFacts& facts, BackendChoice backend);

/// Nothing that is needed is missing.
bool ready(const std::vector<Check>& checks);

/// Open the counters on the first GPU in a child process, since a broken profiler can take a
/// process down.  Must come before this process uses CUDA.
Finding try_counters();

/// "13.0": CUDA that this build was made with; empty in a build without.
std::string toolkit_cuda_version();

}  // namespace headsplit::agent
