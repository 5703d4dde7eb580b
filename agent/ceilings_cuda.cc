#include <algorithm>
#include <functional>

#include "agent/ceiling_kernels.h"
#include "agent/ceilings.h"
#include "agent/cublaslt.h"
#include "agent/device_memory.h"
#include "core/stats.h"

namespace headsplit::agent {

namespace {

constexpr std::int64_t kReadBytes = std::int64_t{4} << 30;
constexpr int kMatmulSize = 8192;
constexpr int kLaunches = 20;
constexpr int kWarmUps = 3;

/// Launches timed one by one by events on one stream, all enqueued before the first wait.
class LaunchTimer {
 public:
  static Result<LaunchTimer> open(int launches) {
    LaunchTimer timer(launches);
    timer.stream_ = TRY(cuda_stream());
    for (int i = 0; i <= launches; ++i) timer.marks_.push_back(TRY(cuda_event()));
    return timer;
  }

  cudaStream_t stream() const { return stream_.get(); }

  /// Median seconds of a launch.  `while_running` is called when all are enqueued.
  Result<double> median_s(const std::function<Result<void>()>& launch,
                          const std::function<void()>& while_running) {
    for (int i = 0; i < kWarmUps; ++i) TRY(launch());
    CUDA_TRY(cudaEventRecord(marks_[0].get(), stream()));
    for (int i = 1; i <= launches_; ++i) {
      TRY(launch());
      CUDA_TRY(cudaEventRecord(marks_[static_cast<std::size_t>(i)].get(), stream()));
    }
    while_running();
    CUDA_TRY(cudaStreamSynchronize(stream()));
    std::vector<double> samples_s;
    for (std::size_t i = 1; i < marks_.size(); ++i) {
      float milliseconds = 0;
      CUDA_TRY(cudaEventElapsedTime(&milliseconds, marks_[i - 1].get(), marks_[i].get()));
      samples_s.push_back(milliseconds * 1e-3);
    }
    return quantile(samples_s, 0.5);
  }

 private:
  explicit LaunchTimer(int launches) : launches_(launches) {}
  int launches_ = 0;
  Stream stream_;
  std::vector<Event> marks_;  ///< one before each launch and one after the last
};

std::size_t read_bytes(const CeilingSizes& sizes, std::size_t free_bytes) {
  const std::size_t wanted =
      static_cast<std::size_t>(sizes.read_bytes > 0 ? sizes.read_bytes : kReadBytes);
  return std::min(wanted, free_bytes / 4) / 4096 * 4096;
}

Result<void> measure_memory(LaunchTimer& timer, std::size_t bytes, Ceilings& ceilings) {
  const DeviceMemory data = TRY(device_memory(bytes));
  const DeviceMemory sink = TRY(device_memory(sizeof(std::uint32_t)));
  launch_fill_bf16(data.get(), bytes / 2, 1, timer.stream());
  CUDA_TRY(cudaGetLastError());
  const auto read = [&]() -> Result<void> {
    launch_streaming_read(data.get(), bytes, static_cast<std::uint32_t*>(sink.get()),
                          timer.stream());
    CUDA_TRY(cudaGetLastError());
    return {};
  };
  const double read_s = TRY(timer.median_s(read, [] {}));
  ceilings.read_gbps = static_cast<double>(bytes) / read_s * 1e-9;

  const std::size_t half = bytes / 2;
  const auto copy = [&]() -> Result<void> {
    CUDA_TRY(cudaMemcpyAsync(static_cast<char*>(data.get()) + half, data.get(), half,
                             cudaMemcpyDeviceToDevice, timer.stream()));
    return {};
  };
  const double copy_s = TRY(timer.median_s(copy, [] {}));
  ceilings.copy_gbps = 2 * static_cast<double>(half) / copy_s * 1e-9;
  return {};
}

Result<double> matmul_tflops(LaunchTimer& timer, MatmulType type, int size,
                             const std::function<void()>& while_running) {
  LtMatmul matmul = TRY(LtMatmul::open(type, size));
  const auto launch = [&] { return matmul.launch(timer.stream()); };
  const double seconds = TRY(timer.median_s(launch, while_running));
  return matmul.flops() / seconds * 1e-12;
}

}  // namespace

Result<void> measure_cuda_ceilings(Device& device, CeilingSizes sizes, Ceilings& ceilings) {
  std::size_t free_bytes = 0, total_bytes = 0;
  CUDA_TRY(cudaMemGetInfo(&free_bytes, &total_bytes));
  LaunchTimer timer = TRY(LaunchTimer::open(sizes.launches > 0 ? sizes.launches : kLaunches));
  TRY(measure_memory(timer, read_bytes(sizes, free_bytes), ceilings));

  const int size = sizes.matmul_size > 0 ? sizes.matmul_size : kMatmulSize;
  // bf16 first, and the state noted while it runs: most kernels are held against it, and a tenth
  // of a second of matmuls brings a chip to its power limit.
  const auto bf16 =
      matmul_tflops(timer, MatmulType::bf16, size, [&] { note_state(device.state(), ceilings); });
  if (bf16) ceilings.bf16_tflops = *bf16;
  if (!bf16) add_reason(ceilings, "no bf16 ceiling: " + bf16.error().message);
  const auto fp8 = matmul_tflops(timer, MatmulType::fp8, size, [] {});
  if (fp8) ceilings.fp8_tflops = *fp8;
  if (!fp8) add_reason(ceilings, "no fp8 ceiling: " + fp8.error().message);
  // A device that failed in the middle would fail everything after it too.
  CUDA_TRY(cudaDeviceSynchronize());
  return {};
}

}  // namespace headsplit::agent
