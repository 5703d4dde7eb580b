#include "agent/device_cpu.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "agent/cpu_facts.h"
#include "kernels/cpu/aligned.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/kernel.h"

namespace headsplit::agent {
namespace {

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
/// Eviction takes time with every cold sample, so its buffer is bounded.
constexpr std::int64_t kEvictionLargestBytes = 256 * kMebibyte;
/// Where sysfs does not name the last-level cache: larger than those of common servers' cores.
constexpr std::int64_t kUnknownCacheBytes = 64 * kMebibyte;
constexpr std::int64_t kLineBytes = 64;

/// The largest cache that sysfs lists for the first processor; 0 where it lists none.
std::int64_t last_level_cache_bytes() {
  std::int64_t largest_bytes = 0;
  for (int index = 0; index < 8; ++index) {
    const auto text = system_text(str("/sys/devices/system/cpu/cpu0/cache/index", index, "/size"));
    if (!text) break;
    largest_bytes = std::max(largest_bytes, size_bytes(*text).value_or(0));
  }
  return largest_bytes;
}

/// Pushes everything else out of the caches by reading a buffer of twice their size.
class CacheEvictor {
 public:
  explicit CacheEvictor(std::int64_t cache_bytes)
      : bytes_(std::min(2 * (cache_bytes > 0 ? cache_bytes : kUnknownCacheBytes),
                        kEvictionLargestBytes)),
        buffer_(kernels::make_aligned<unsigned char>(static_cast<std::size_t>(bytes_))),
        pool_(kernels::available_threads()) {
    // Written once, or all of its pages would be the one page of zeros.
    pool_.for_each(chunks(), [this](int chunk, int) {
      std::memset(buffer_.get() + chunk * kMebibyte, 1, chunk_bytes(chunk));
    });
  }

  void evict() {
    pool_.for_each(chunks(), [this](int chunk, int) {
      const unsigned char* line = buffer_.get() + chunk * kMebibyte;
      const unsigned char* end = line + chunk_bytes(chunk);
      unsigned sum = 0;
      for (; line < end; line += kLineBytes) sum += *line;
      checksum_ += sum;  // kept, so that the loop cannot be left out
    });
  }

 private:
  int chunks() const { return static_cast<int>((bytes_ + kMebibyte - 1) / kMebibyte); }
  std::size_t chunk_bytes(int chunk) const {
    return static_cast<std::size_t>(std::min(kMebibyte, bytes_ - chunk * kMebibyte));
  }

  std::int64_t bytes_ = 0;
  kernels::AlignedArray<unsigned char> buffer_;
  kernels::ThreadPool pool_;
  std::atomic<unsigned> checksum_{0};
};

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(DeviceInfo info)
      : info_(std::move(info)), evictor_(info_.last_level_cache_bytes) {}

  const DeviceInfo& info() const override { return info_; }

  Result<std::unique_ptr<kernels::BoundKernel>> bind(const std::string& kernel,
                                                     const kernels::Problem& problem,
                                                     int fixed_splits) override {
    const kernels::KernelEntry* entry = TRY(kernels::find_kernel(kernel, kernels::Backend::cpu));
    TRY(entry->supports(problem.shape));
    return entry->bind(problem, kernels::BindOptions{.num_splits = fixed_splits});
  }

  Result<Timed> time(kernels::BoundKernel& kernel, const TimeRequest& request) override {
    Timed timed;
    const Clock::time_point begin = Clock::now();
    for (int launch = 0; launch < request.launches; ++launch) {
      if (request.l2 == L2::cold) evictor_.evict();
      const Clock::time_point start = Clock::now();
      TRY(kernel.launch(request.part));
      timed.samples_us.push_back(1e6 * seconds_since(start));
    }
    timed.gpu_s = seconds_since(begin);
    return timed;
  }

  Result<double> time_poisoned_us(kernels::BoundKernel& kernel, L2 l2) override {
    TRY(kernel.poison());
    return TRY(time(kernel, {.l2 = l2})).samples_us.front();
  }

  Result<Counts> count(kernels::BoundKernel&, const CountMode&) override {
    return Counts{.reason = "the CPU backend has no hardware counters"};
  }

  DeviceState state() override {
    const auto cpuinfo = system_text("/proc/cpuinfo");
    DeviceState state;
    if (cpuinfo) state.sm_clock_mhz = cpu_clock_mhz(*cpuinfo);
    return state;
  }

  Result<void> evict() override {
    evictor_.evict();
    return {};
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  DeviceInfo info_;
  CacheEvictor evictor_;
};

}  // namespace

Result<std::unique_ptr<Device>> open_cpu_device() {
  const auto cpuinfo = system_text("/proc/cpuinfo");
  if (!cpuinfo) return fail(ErrorKind::io, "/proc/cpuinfo: cannot be read");
  const auto meminfo = system_text("/proc/meminfo");
  const auto memory_bytes = meminfo ? available_memory_bytes(*meminfo) : std::nullopt;
  if (!memory_bytes) return fail(ErrorKind::io, "/proc/meminfo: no line MemAvailable");
  return std::make_unique<CpuDevice>(DeviceInfo{.backend = kernels::Backend::cpu,
                                                .name = cpu_name(*cpuinfo),
                                                .memory_bytes = *memory_bytes,
                                                .last_level_cache_bytes = last_level_cache_bytes(),
                                                .compute_units = kernels::available_threads()});
}

}  // namespace headsplit::agent
