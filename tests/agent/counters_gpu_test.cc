// What the counters must say of launches whose work is known beforehand.  Figures are printed, so
// that a run of this program is evidence; times are printed and not asserted.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <functional>

#include "agent/ceiling_kernels.h"
#include "agent/ceilings.h"
#include "agent/counters.h"
#include "agent/cublaslt.h"
#include "agent/device_memory.h"
#include "agent/nvml.h"
#include "tests/agent/counters_gpu_kernels.h"

namespace headsplit::agent {
namespace {

constexpr std::size_t kGibibyte = std::size_t{1} << 30;
constexpr std::size_t kFlushBytes = std::size_t{256} << 20;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string uuid_text(const cudaDeviceProp& properties) {
  std::string text = "GPU";
  for (int i = 0; i < 16; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    char hex[3];
    std::snprintf(hex, sizeof hex, "%02x", static_cast<unsigned char>(properties.uuid.bytes[i]));
    text += hex;
  }
  return text;
}

void print(const char* what, const Counts& counts) {
  std::printf("%-28s read %.0f written %.0f tensor %.0f l2 %.0f %s %s\n", what,
              counts.dram_bytes_read.value_or(-1), counts.dram_bytes_written.value_or(-1),
              counts.tensor_ops.value_or(-1), counts.l2_bytes.value_or(-1),
              json::serialize(counts.all).c_str(), counts.reason.c_str());
}

class CountersGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    stream_ = cuda_stream().value();
    data_ = device_memory(kGibibyte).value();
    flush_ = device_memory(kFlushBytes).value();
    sink_ = device_memory(64).value();
    launch_fill_bf16(data_.get(), kGibibyte / 2, 1, stream_.get());
    launch_fill_bf16(flush_.get(), kFlushBytes / 2, 2, stream_.get());
    ASSERT_TRUE(read_all()) << "warm-up";
    Result<Counters> counters = fail(ErrorKind::cuda, "not opened");
    const double seconds = seconds_of([&] { counters = Counters::open(); });
    std::printf("opening the counters took %.1f ms\n", seconds * 1e3);
    ASSERT_TRUE(counters) << counters.error().message;
    counters_.emplace(std::move(*counters));
  }

  Result<void> read(const DeviceMemory& from, std::size_t bytes) {
    launch_streaming_read(from.get(), bytes, static_cast<std::uint32_t*>(sink_.get()),
                          stream_.get());
    CUDA_TRY(cudaGetLastError());
    return {};
  }
  Result<void> read_all() { return read(data_, kGibibyte); }
  Result<void> flush() { return read(flush_, kFlushBytes); }

  Counts count(const char* what, const std::function<Result<void>()>& launch) {
    Counts counts;
    const double settling = seconds_of([&] { counters_->settle(); });
    const double seconds = seconds_of([&] {
      counts = counters_->count({.launch = launch, .before = [this] { return flush(); }}).value();
    });
    print(what, counts);
    std::printf("%-28s settling took %.1f ms, counting %.1f ms\n", "", settling * 1e3,
                seconds * 1e3);
    return counts;
  }

  Stream stream_;
  DeviceMemory data_, flush_, sink_;
  std::optional<Counters> counters_;
};

TEST_F(CountersGpu, CountNothingInAnEmptyRange) {
  const Counts counts = count("empty", [] { return Result<void>(); });
  EXPECT_LT(counts.dram_bytes_read.value(), 1 << 20);
  EXPECT_EQ(counts.tensor_ops.value(), 0);
}

TEST_F(CountersGpu, CountAStreamingReadWithinHalfAPercent) {
  for (int repeat = 0; repeat < 2; ++repeat) {
    const Counts counts = count("read 1 GiB", [this] { return read_all(); });
    EXPECT_NEAR(counts.dram_bytes_read.value(), kGibibyte, 0.005 * kGibibyte);
    EXPECT_EQ(counts.tensor_ops.value(), 0);
  }
}

TEST_F(CountersGpu, CountInsideAGraphToo) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_TRUE(read_all());
  ASSERT_EQ(cudaStreamEndCapture(stream_.get(), &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  const Counts counts = count("read 1 GiB in a graph", [&]() -> Result<void> {
    CUDA_TRY(cudaGraphLaunch(executable, stream_.get()));
    return {};
  });
  EXPECT_NEAR(counts.dram_bytes_read.value(), kGibibyte, 0.005 * kGibibyte);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(CountersGpu, CountAStreamingWrite) {
  const Counts counts = count("write 1 GiB", [this]() -> Result<void> {
    launch_streaming_write(data_.get(), kGibibyte, 7, stream_.get());
    CUDA_TRY(cudaGetLastError());
    return {};
  });
  // The last lines stay dirty in the L2, so up to its size is written later.
  EXPECT_GT(counts.dram_bytes_written.value(), 0.9 * kGibibyte);
  EXPECT_LT(counts.dram_bytes_written.value(), 1.02 * kGibibyte);
}

TEST_F(CountersGpu, SeeDirtyLinesOfAMemsetUnlessTheyAreReadOut) {
  for (const bool read_out : {false, true}) {
    const auto before = [&]() -> Result<void> {
      CUDA_TRY(cudaMemsetAsync(flush_.get(), 3, kFlushBytes, stream_.get()));
      if (read_out) return flush();
      return {};
    };
    const Counts counts =
        counters_->count({.launch = [this] { return read_all(); }, .before = before}).value();
    print(read_out ? "after memset and read" : "after memset", counts);
    EXPECT_NEAR(counts.dram_bytes_read.value(), kGibibyte, 0.005 * kGibibyte);
  }
}

TEST_F(CountersGpu, CountTheOperationsOfAMatmulExactly) {
  constexpr int kM = 2048, kN = 1024, kK = 1536;
  const Counts counts = count("mma.sync 2048x1024x1536", [this]() -> Result<void> {
    char* base = static_cast<char*>(data_.get());
    launch_exact_matmul(base, base + kGibibyte / 4, reinterpret_cast<float*>(base + kGibibyte / 2),
                        kM, kN, kK, stream_.get());
    CUDA_TRY(cudaGetLastError());
    return {};
  });
  EXPECT_EQ(counts.tensor_ops.value(), 2.0 * kM * kN * kK);
}

TEST_F(CountersGpu, CountPaddingOfALibraryMatmul) {
  int major = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), cudaSuccess);
  for (const auto& [type, size] : {std::pair{MatmulType::bf16, 4096},
                                   {MatmulType::bf16, 8192},
                                   {MatmulType::fp8, 4096},
                                   {MatmulType::fp8, 8192}}) {
    // Elsewhere FP8 operations do not exist, or are counted in the detail set.
    if (type == MatmulType::fp8 && major != 9) continue;
    auto matmul = LtMatmul::open(type, size);
    ASSERT_TRUE(matmul) << matmul.error().message;
    ASSERT_TRUE(matmul->launch(stream_.get()));
    const std::string what = str(type == MatmulType::fp8 ? "fp8 " : "bf16 ", size, "^3");
    const Counts counts = count(what.c_str(), [&] { return matmul->launch(stream_.get()); });
    const double ratio = counts.tensor_ops.value() / matmul->flops();
    std::printf("%-28s counted over 2MNK: %.6f\n", "", ratio);
    EXPECT_GE(ratio, 1);
    EXPECT_LT(ratio, 1.1);
  }
}

TEST_F(CountersGpu, GiveTheDetailSetOnRequest) {
  const auto launch = [this] { return read_all(); };
  const auto before = [this] { return flush(); };
  Counts counts;
  const double seconds = seconds_of([&] {
    counts = counters_->count({.launch = launch, .before = before, .detail = true}).value();
  });
  std::printf("counting with the detail set took %.1f ms\n", seconds * 1e3);
  print("detail of read 1 GiB", counts);
  EXPECT_LT(counts.l2_hit_ratio.value(), 0.1) << "a streaming read finds nothing in the cache";
  EXPECT_EQ(counts.tensor_active_ratio.value(), 0);
  EXPECT_GT(counts.occupancy.value(), 0.3);
  EXPECT_LE(counts.occupancy.value(), 1);
  EXPECT_NEAR(counts.dram_bytes_read.value(), kGibibyte, 0.005 * kGibibyte);

  const auto refused = counters_->count({.launch = launch, .detail = true, .repeatable = false});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::config);
}

TEST_F(CountersGpu, SurviveALaunchThatFails) {
  const auto failed = counters_->count(
      {.launch = []() -> Result<void> { return fail(ErrorKind::cuda, "planted"); }});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "planted");
  const Counts counts = count("after a failed launch", [this] { return read_all(); });
  EXPECT_NEAR(counts.dram_bytes_read.value(), kGibibyte, 0.005 * kGibibyte);
}

TEST_F(CountersGpu, DoNotSlowLaunchesOutsideRanges) {
  const auto event_us = [this] {
    Event begin = cuda_event().value(), end = cuda_event().value();
    EXPECT_EQ(cudaEventRecord(begin.get(), stream_.get()), cudaSuccess);
    EXPECT_TRUE(read_all());
    EXPECT_EQ(cudaEventRecord(end.get(), stream_.get()), cudaSuccess);
    EXPECT_EQ(cudaEventSynchronize(end.get()), cudaSuccess);
    float milliseconds = 0;
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), cudaSuccess);
    return milliseconds * 1e3;
  };
  counters_->settle();
  event_us();
  const double inside_a = event_us(), inside_b = event_us();
  counters_.reset();
  event_us();
  const double outside_a = event_us(), outside_b = event_us();
  std::printf("read 1 GiB by events: %.1f %.1f us with the profiler open, %.1f %.1f us without\n",
              inside_a, inside_b, outside_a, outside_b);
}

/// The GPU with its clocks from NVML; runs no kernels of the suite.
class BareGpu final : public Device {
 public:
  BareGpu() : nvml_(Nvml::open().value()) {
    cudaDeviceProp properties{};
    EXPECT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
    info_ = {.backend = kernels::Backend::cuda,
             .name = properties.name,
             .gpu_uuid = uuid_text(properties),
             .driver = nvml_.driver_version(),
             .cuda = nvml_.cuda_version()};
  }
  const DeviceInfo& info() const override { return info_; }
  Result<std::unique_ptr<kernels::BoundKernel>> bind(const std::string&, const kernels::Problem&,
                                                     int) override {
    return fail(ErrorKind::config, "runs no kernels");
  }
  Result<Timed> time(kernels::BoundKernel&, const TimeRequest&) override {
    return fail(ErrorKind::config, "runs no kernels");
  }
  Result<double> time_poisoned_us(kernels::BoundKernel&, L2) override {
    return fail(ErrorKind::config, "runs no kernels");
  }
  Result<Counts> count(kernels::BoundKernel&, const CountMode&) override { return Counts{}; }
  DeviceState state() override { return nvml_.state(info_.gpu_uuid).value(); }

 private:
  Nvml nvml_;
  DeviceInfo info_;
};

TEST(NvmlGpu, TellsEveryFieldOfADataCentreGpu) {
  BareGpu gpu;
  std::printf("%s\n", json_text(gpu.info()).c_str());
  for (const GpuFacts& facts : Nvml::open().value().gpus().value()) {
    std::printf("%s\n", json_text(facts).c_str());
    EXPECT_GT(facts.memory_free_bytes.value(), 0);
  }
  DeviceState state;
  const double seconds = seconds_of([&] { state = gpu.state(); });
  std::printf(
      "SM %.0f MHz, memory %.0f MHz, %.3f W, %.3f J, %.0f C, throttled %d '%s'; "
      "reading took %.2f ms\n",
      state.sm_clock_mhz.value_or(-1), state.memory_clock_mhz.value_or(-1),
      state.power_w.value_or(-1), state.energy_j.value_or(-1), state.temperature_c.value_or(-1),
      state.throttled.value_or(false), state.throttle_reason.c_str(), seconds * 1e3);
  EXPECT_GT(state.sm_clock_mhz.value(), 100);
  EXPECT_GT(state.power_w.value(), 10);
  EXPECT_LT(state.power_w.value(), 2000);
  EXPECT_GT(state.energy_j.value(), 0);
  EXPECT_TRUE(state.throttled.has_value());
}

TEST(CeilingsGpu, AreMeasuredOnThisGpu) {
  BareGpu gpu;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const auto ceilings = measure_ceilings(gpu);
    ASSERT_TRUE(ceilings) << ceilings.error().message;
    std::printf("%s\n", json_text(*ceilings).c_str());
    EXPECT_EQ(ceilings->reason, "");
    EXPECT_GT(ceilings->read_gbps.value(), 0);
    EXPECT_GT(ceilings->copy_gbps.value(), 0);
    EXPECT_GT(ceilings->bf16_tflops.value(), 0);
    EXPECT_GT(ceilings->fp8_tflops.value(), 0);
    EXPECT_GT(ceilings->sm_clock_mhz.value(), 0);
  }
}

}  // namespace
}  // namespace headsplit::agent

int main(int argc, char** argv) {
  constexpr int kSkipped = 77;
  testing::InitGoogleTest(&argc, argv);
  int count = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess || count == 0) {
    std::printf("skipped: no GPU (%s)\n", cudaGetErrorName(status));
    return kSkipped;
  }
  return RUN_ALL_TESTS();
}
