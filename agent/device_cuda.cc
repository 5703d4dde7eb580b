#include "agent/device_cuda.h"

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>

#include "agent/counters.h"
#include "agent/cuda_timer.h"
#include "agent/nvml.h"
#include "kernels/device/pool.h"
#include "kernels/reference_cuda.h"

namespace headsplit::agent {
namespace {

constexpr int kOldestMajor = 8;

std::string version_text(int version) { return str(version / 1000, ".", version % 1000 / 10); }

/// "GPU-8-4-4-4-12", as the driver's tools write it.
std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU";
  for (int i = 0; i < 16; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    text += digits;
  }
  return text;
}

Error no_gpu(cudaError_t status) {
  int driver = 0;
  cudaDriverGetVersion(&driver);
  if (status == cudaErrorInsufficientDriver && driver == 0) {
    return fail(ErrorKind::cuda, "no GPU: no NVIDIA driver is installed here");
  }
  if (status == cudaErrorInsufficientDriver) {
    return fail(ErrorKind::cuda, "no GPU: the driver runs CUDA ", version_text(driver),
                ", this build needs ", version_text(CUDART_VERSION));
  }
  if (status == cudaErrorNoDevice || status == cudaSuccess) {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    return fail(ErrorKind::cuda, "no GPU: the driver shows none",
                visible == nullptr ? "" : str(" (CUDA_VISIBLE_DEVICES=", visible, ")"));
  }
  return fail(ErrorKind::cuda, "no GPU: ", cudaGetErrorName(status), ", ",
              cudaGetErrorString(status));
}

Result<cudaDeviceProp> first_gpu() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    cudaGetLastError();
    return no_gpu(status);
  }
  cudaDeviceProp properties{};
  CUDA_TRY(cudaGetDeviceProperties(&properties, 0));
  if (properties.major < kOldestMajor) {
    return fail(ErrorKind::cuda, properties.name, " has compute capability ", properties.major, ".",
                properties.minor, ", the kernels need ", kOldestMajor, ".0 or later");
  }
  CUDA_TRY(cudaSetDevice(0));
  return properties;
}

std::optional<Nvml> open_nvml() {
  auto nvml = Nvml::open();
  if (nvml) return std::move(*nvml);
  log_line(LogLevel::info, "device", "no clocks and power",
           log_field("reason", nvml.error().message));
  return std::nullopt;
}

class CudaDevice final : public Device {
 public:
  CudaDevice(DeviceInfo info, CudaTimer timer, std::optional<Nvml> nvml)
      : info_(std::move(info)), timer_(std::move(timer)), nvml_(std::move(nvml)) {}

  const DeviceInfo& info() const override { return info_; }

  Result<std::unique_ptr<kernels::BoundKernel>> bind(const std::string& kernel,
                                                     const kernels::Problem& problem,
                                                     int fixed_splits) override {
    timer_.forget();
    const kernels::KernelEntry* entry = TRY(kernels::find_kernel(kernel, kernels::Backend::cuda));
    TRY(entry->supports(problem.shape));
    TRY(make_room(problem.shape));
    return entry->bind(problem,
                       kernels::BindOptions{
                           .stream = timer_.stream(), .pool = &pool_, .num_splits = fixed_splits});
  }

  Result<std::vector<kernels::ReferenceRow>> reference_rows(
      const kernels::Problem& problem, std::span<const std::int64_t> rows) override {
    return kernels::reference_rows_cuda(problem, rows, timer_.stream(), &pool_);
  }

  /// The counters of the next launch are programmed in the background: not beside a held stream.
  void settle() override {
    if (counters_ && *counters_) (*counters_)->settle();
  }

  Result<Timed> time(kernels::BoundKernel& kernel, const TimeRequest& request) override {
    be_undisturbed();
    return timer_.time(kernel, request);
  }

  Result<double> time_poisoned_us(kernels::BoundKernel& kernel, L2 l2) override {
    be_undisturbed();
    return timer_.time_poisoned_us(kernel, l2);
  }

  Result<Counts> count(kernels::BoundKernel& kernel, const CountMode& mode) override {
    be_undisturbed();
    if (!counters_) counters_ = Counters::open();
    if (!*counters_) return no_counts(counters_->error().message);
    return (*counters_)
        ->count(CountRequest{.launch = [&] { return kernel.launch(kernels::Part::all); },
                             .before = [this]() -> Result<void> {
                               TRY(timer_.evict());
                               return timer_.synchronize();
                             },
                             .detail = mode.detail,
                             .repeatable = mode.repeatable});
  }

  DeviceState state() override {
    if (!nvml_) return {};
    const auto state = nvml_->state(info_.gpu_uuid);
    if (state) return *state;
    log_line(LogLevel::warn, "device", "no clocks and power",
             log_field("reason", state.error().message));
    return {};
  }

  std::optional<LinkBytes> link_bytes() override {
    if (!nvml_) return std::nullopt;
    const auto bytes = nvml_->link_bytes(info_.gpu_uuid);
    return bytes ? *bytes : std::nullopt;
  }

  /// After an illegal address, a lost GPU and their like every call of this process fails.
  bool usable() override { return cudaDeviceSynchronize() == cudaSuccess; }
  Result<void> evict() override { return timer_.evict(); }
  void* stream() override { return timer_.stream(); }

 private:
  /// Nothing in the background changes times or counts any more: neither counters that are being
  /// programmed nor freed memory that the driver is clearing.
  void be_undisturbed() {
    settle();
    std::this_thread::sleep_until(pool_.freed().cleared());
  }

  /// A kernel that allocates by itself (a plug-in) must not lack what is kept for others.
  Result<void> make_room(const RankProblem& shape) {
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    CUDA_TRY(cudaMemGetInfo(&free_bytes, &total_bytes));
    if (static_cast<double>(free_bytes) < kernels::memory_bytes(shape)) pool_.release();
    return {};
  }

  DeviceInfo info_;
  kernels::DevicePool pool_;
  CudaTimer timer_;
  std::optional<Nvml> nvml_;
  std::optional<Result<Counters>> counters_;  ///< opened with the first count
};

}  // namespace

Result<std::unique_ptr<Device>> open_cuda_device() {
  const cudaDeviceProp properties = TRY(first_gpu());
  auto timer = TRY(CudaTimer::make(properties.l2CacheSize, properties.multiProcessorCount));
  auto nvml = open_nvml();
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  CUDA_TRY(cudaMemGetInfo(&free_bytes, &total_bytes));
  DeviceInfo info{.backend = kernels::Backend::cuda,
                  .name = properties.name,
                  .gpu_uuid = uuid_text(properties.uuid),
                  .driver = nvml ? nvml->driver_version() : "",
                  .cuda = version_text(CUDART_VERSION),
                  .memory_bytes = static_cast<std::int64_t>(free_bytes),
                  .last_level_cache_bytes = properties.l2CacheSize,
                  .compute_units = properties.multiProcessorCount};
  return std::make_unique<CudaDevice>(std::move(info), std::move(timer), std::move(nvml));
}

}  // namespace headsplit::agent
