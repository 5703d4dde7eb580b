#include <algorithm>
#include <array>
#include <cstdio>

#include "agent/preflight.h"

namespace headsplit::agent {

namespace {

using enum CheckState;

constexpr double kGigabyte = 1e9;
constexpr std::int64_t kMemoryLeastBytes = std::int64_t{1} << 30;
constexpr std::int64_t kDiskLeastBytes = std::int64_t{100} << 20;
constexpr std::array<std::string_view, 6> kNetworkDisks{"nfs",  "cifs",   "smb2",
                                                        "ceph", "lustre", "gpfs"};

std::string gigabytes(double bytes) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f GB", bytes / kGigabyte);
  return text.data();
}

int major_of(const std::string& version) { return std::atoi(version.c_str()); }

Check build_check(const PreflightFacts& f, bool cuda_needed) {
  Check check{.name = "build", .needed = cuda_needed, .found = "headsplit " + f.build};
  if (f.build_has_cuda) {
    check.found += ", CUDA " + f.toolkit_cuda;
  } else {
    check.found += ", without CUDA";
    check.state = cuda_needed || !f.gpus.empty() ? missing : ok;
    if (check.state != ok) check.remedy = "build with nvcc on the PATH (HEADSPLIT_CUDA=ON)";
  }
  return check;
}

Check cpu_check(const PreflightFacts& f) {
  Check check{.name = "cpu", .needed = true, .found = str(f.cpu, ", ", f.cpu_threads, " threads")};
  if (!f.cpu_governor.empty() && f.cpu_governor != "performance") {
    check.found += ", governor " + f.cpu_governor;
    check.state = degraded;
    check.remedy = "CPU timings drift with the clock: cpupower frequency-set -g performance";
  }
  return check;
}

Check memory_check(const PreflightFacts& f) {
  Check check{.name = "memory",
              .needed = true,
              .found = gigabytes(static_cast<double>(f.memory_available_bytes)) + " available"};
  if (f.memory_available_bytes < kMemoryLeastBytes) {
    check.state = missing;
    check.remedy = "free at least 1 GiB of memory";
  }
  return check;
}

Check disk_check(const PreflightFacts& f) {
  Check check{.name = "disk",
              .needed = true,
              .found = str(f.disk_path, ": ", gigabytes(static_cast<double>(f.disk_free_bytes)),
                           " free", f.disk_type.empty() ? "" : ", " + f.disk_type)};
  if (f.disk_free_bytes < kDiskLeastBytes) {
    check.state = missing;
    check.remedy = "free at least 100 MiB, or put the database elsewhere with --db";
  } else if (std::ranges::count(kNetworkDisks, f.disk_type) > 0) {
    check.state = degraded;
    check.remedy = "SQLite's locks and syncs are unsafe over a network: put --db on a local disk";
  }
  return check;
}

Check driver_check(const PreflightFacts& f, bool cuda_needed) {
  Check check{.name = "driver", .needed = cuda_needed, .found = f.driver.text};
  if (!f.driver.found) {
    check.state = missing;
    check.remedy = "install the NVIDIA driver, or run with --backend cpu";
    return check;
  }
  if (!f.driver_cuda.empty()) check.found += ", runs CUDA up to " + f.driver_cuda;
  if (f.build_has_cuda && !f.driver_cuda.empty() &&
      major_of(f.driver_cuda) < major_of(f.toolkit_cuda)) {
    check.state = missing;
    check.remedy = str("this build needs a driver for CUDA ", f.toolkit_cuda,
                       ": update it, or build with an older toolkit");
  }
  return check;
}

Check gpus_check(const PreflightFacts& f, bool cuda_needed) {
  Check check{.name = "gpus", .needed = cuda_needed, .found = str(f.gpus.size(), " found")};
  if (f.visible_devices) check.found += ", CUDA_VISIBLE_DEVICES=" + *f.visible_devices;
  const bool hidden =
      f.visible_devices && (f.visible_devices->empty() || f.visible_devices->starts_with("-1"));
  if (f.gpus.empty()) {
    check.state = missing;
    check.remedy = "no GPU answers: --backend cpu runs the CPU kernels";
  } else if (hidden) {
    check.state = missing;
    check.remedy = "unset CUDA_VISIBLE_DEVICES: it hides every GPU";
  }
  return check;
}

std::string gpu_text(const GpuFacts& gpu) {
  std::string text = gpu.name + " " + gpu.uuid;
  if (gpu.memory_bytes && gpu.memory_free_bytes) {
    text += str(", ", gigabytes(static_cast<double>(*gpu.memory_free_bytes)), " of ",
                gigabytes(static_cast<double>(*gpu.memory_bytes)), " free");
  }
  if (gpu.mig) text += *gpu.mig ? ", MIG on" : ", MIG off";
  if (gpu.ecc) text += *gpu.ecc ? ", ECC on" : ", ECC off";
  return text;
}

Check gpu_check(std::size_t index, const GpuFacts& gpu) {
  Check check{.name = str("gpu ", index), .found = gpu_text(gpu)};
  if (gpu.mig.value_or(false)) {
    check.state = degraded;
    check.remedy = "MIG shares the chip and restricts counters: nvidia-smi -mig 0";
  } else if (gpu.memory_bytes && gpu.memory_free_bytes &&
             *gpu.memory_free_bytes < *gpu.memory_bytes * 9 / 10) {
    check.state = degraded;
    check.remedy = "something else uses this GPU (nvidia-smi): its times would be wrong";
  }
  return check;
}

Check clocks_check(std::size_t index, const GpuFacts& gpu, const DeviceState& state) {
  Check check{.name = str("clocks ", index)};
  if (!state.sm_clock_mhz) {
    check.state = degraded;
    check.found = "the driver does not tell";
    check.remedy = "rows will carry no clocks";
    return check;
  }
  check.found = str("SM ", *state.sm_clock_mhz, " MHz");
  if (gpu.sm_clock_max_mhz) check.found += str(" of at most ", *gpu.sm_clock_max_mhz);
  if (state.memory_clock_mhz) check.found += str(", memory ", *state.memory_clock_mhz, " MHz");
  if (state.power_w) check.found += str(", ", *state.power_w, " W");
  if (gpu.power_limit_w) check.found += str(" of at most ", *gpu.power_limit_w);
  if (state.temperature_c) check.found += str(", ", *state.temperature_c, " C");
  if (state.throttled.value_or(false)) {
    check.state = degraded;
    check.found += ", held back by " + state.throttle_reason;
    check.remedy = "idle and yet throttled: see to cooling and power";
  }
  return check;
}

Check counters_check(const PreflightFacts& f) {
  Check check{.name = "counters", .found = f.counters.text};
  if (f.counters_for_admins_only) {
    check.found += str(", RmProfilingAdminOnly ", *f.counters_for_admins_only ? 1 : 0);
  }
  if (f.counters.found) return check;
  check.state = f.gpus.empty() ? missing : degraded;
  check.remedy = "measured intensity will be null, the modelled one stays";
  if (f.counters_for_admins_only.value_or(false) && !f.is_admin) {
    check.remedy =
        "run as root (CAP_SYS_ADMIN), or set NVreg_RestrictProfilingToAdminUsers=0 for the nvidia "
        "module";
  }
  return check;
}

Check profiler_check(const PreflightFacts& f) {
  Check check{.name = "other profiler", .found = "none"};
  if (!f.other_profiler.empty()) {
    check.state = degraded;
    check.found = f.other_profiler;
    check.remedy = "run without it: one profiler can hold the counters, and times are disturbed";
  } else if (f.dcgm_running) {
    check.found = "DCGM's host engine runs";
    if (!f.counters.found) {
      check.state = degraded;
      check.remedy = "it may hold the counters: dcgmi profile --pause";
    }
  }
  return check;
}

Check library_check(const std::string& name, const Finding& finding, const std::string& remedy) {
  Check check{.name = name, .found = finding.text};
  if (!finding.found) {
    check.state = missing;
    check.remedy = remedy;
  }
  return check;
}

}  // namespace

std::vector<Check> preflight_checks(const PreflightFacts& facts, BackendChoice backend) {
  const bool cuda_needed = backend == BackendChoice::cuda;
  std::vector<Check> checks{build_check(facts, cuda_needed), cpu_check(facts), memory_check(facts),
                            disk_check(facts)};
  if (backend != BackendChoice::cpu) {
    checks.push_back(driver_check(facts, cuda_needed));
    checks.push_back(gpus_check(facts, cuda_needed));
    for (std::size_t i = 0; i < facts.gpus.size(); ++i) {
      checks.push_back(gpu_check(i, facts.gpus[i]));
      checks.push_back(clocks_check(i, facts.gpus[i], facts.gpu_states[i]));
    }
    checks.push_back(counters_check(facts));
    checks.push_back(profiler_check(facts));
    checks.push_back(library_check("cublaslt", facts.cublaslt,
                                   "the GPU's matmul ceilings need the CUDA toolkit's cuBLASLt"));
    checks.push_back(
        library_check("nccl", facts.nccl, "real ranks on several GPUs need NCCL (libnccl.so.2)"));
  }
  checks.push_back(library_check("openblas", facts.blas,
                                 "the CPU's matmul ceiling needs OpenBLAS (libopenblas0)"));
  checks.push_back(
      library_check("mpi", facts.mpi, "starting agents with mpirun needs Open MPI (openmpi-bin)"));
  return checks;
}

bool ready(const std::vector<Check>& checks) {
  return std::ranges::none_of(
      checks, [](const Check& check) { return check.needed && check.state == missing; });
}

}  // namespace headsplit::agent
