#include "bench/kv_write_case.h"

#include <cstdio>
#include <memory>
#include <numeric>
#include <vector>

#include "bench/launch_times.h"
#include "kernels/device/buffer.h"
#include "kernels/kv_write/device_write.h"
#include "kernels/random_value.h"

namespace headsplit::bench {
namespace {

using kernels::DeviceBuffer;
namespace kv_write = kernels::kv_write;

constexpr int kLaunches = 11;
constexpr double kTokenBytes = 2 * (kv_write::kLatent + kv_write::kRope) + kv_write::kRowBytes + 4;

/// The writer as what a device times.
class Writer final : public kernels::BoundKernel {
 public:
  static Result<Writer> make(std::int64_t tokens, cudaStream_t stream) {
    Writer writer;
    writer.stream_ = stream;
    std::vector<std::int32_t> slots(static_cast<std::size_t>(tokens));
    std::iota(slots.begin(), slots.end(), 0);
    for (std::size_t i = slots.size(); i > 1; --i) {
      std::swap(slots[i - 1], slots[kernels::random_bits(1, kernels::Tensor::page, i) % i]);
    }
    // Half of 1.0 to 2.0: random mantissas, no NaN.
    std::vector<std::uint16_t> latents(static_cast<std::size_t>(tokens) * kv_write::kLatent);
    for (std::size_t i = 0; i < latents.size(); ++i) {
      latents[i] = static_cast<std::uint16_t>(0x3F00 | (i * 2654435761u >> 8 & 0x80FF));
    }
    writer.slots_ = TRY(DeviceBuffer<std::int32_t>::copy_of(slots, stream));
    writer.latents_ = TRY(DeviceBuffer<std::uint16_t>::copy_of(latents, stream));
    writer.rope_ = TRY(DeviceBuffer<std::uint16_t>::make(tokens * kv_write::kRope));
    writer.cache_ = TRY(DeviceBuffer<std::uint8_t>::make(tokens * kv_write::kRowBytes));
    TRY(make_nan(writer.rope_, stream));
    CUDA_TRY(cudaStreamSynchronize(stream));
    return writer;
  }

  const kernels::Config& config() const override { return config_; }
  Result<void> poison() override { return {}; }
  Result<void> launch(kernels::Part) override {
    const kv_write::Tokens tokens{latents_.data(), rope_.data(), slots_.data(), slots_.count()};
    return kernels::cuda_result(
        kv_write::enqueue_write(tokens, kv_write::ScaleRule::exact, cache_.data(), stream_),
        "enqueue_write");
  }
  Result<std::vector<kernels::OutputRow>> output_rows(std::span<const std::int64_t>) override {
    return std::vector<kernels::OutputRow>{};
  }

 private:
  cudaStream_t stream_ = nullptr;
  DeviceBuffer<std::int32_t> slots_;
  DeviceBuffer<std::uint16_t> latents_;
  DeviceBuffer<std::uint16_t> rope_;
  DeviceBuffer<std::uint8_t> cache_;
  kernels::Config config_;
};

}  // namespace

Result<void> measure_kv_write(agent::Device& device) {
  std::printf("tokens_written,us,gb_per_s\n");
  std::vector<std::unique_ptr<Writer>> writers;
  for (const std::int64_t tokens : {64, 1024, 16384, 131072}) {
    // All of them are kept: a device knows kernels by their address.
    writers.push_back(std::make_unique<Writer>(
        TRY(Writer::make(tokens, static_cast<cudaStream_t>(device.stream())))));
    const double us = TRY(median_us(device, *writers.back(), {.launches = kLaunches}));
    std::printf("%ld,%.1f,%.0f\n", static_cast<long>(tokens), us,
                static_cast<double>(tokens) * kTokenBytes / us / 1e3);
  }
  return {};
}

}  // namespace headsplit::bench
