#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/bf16.h"
#include "kernels/device/buffer.h"
#include "kernels/device/stream.h"
#include "kernels/kv_write/device_write.h"
#include "kernels/random_value.h"

namespace headsplit::kernels::kv_write {
namespace {

struct NewTokens {
  std::vector<std::uint16_t> latents;
  std::vector<std::uint16_t> rope;
  std::vector<std::int32_t> slots;

  Tokens view() const {
    return {latents.data(), rope.data(), slots.data(), static_cast<std::int64_t>(slots.size())};
  }
};

/// Tokens whose tiles are of very different sizes, some of them 0; every seventh is skipped.
NewTokens tokens_of(int count, int cache_slots) {
  NewTokens tokens;
  std::vector<std::int32_t> order(static_cast<std::size_t>(cache_slots));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[random_bits(4, Tensor::page, i) % i]);
  }
  for (int token = 0; token < count; ++token) {
    tokens.slots.push_back(token % 7 == 3 ? -1 : order[std::size_t(token)]);
    for (int d = 0; d < kLatent; ++d) {
      const int exponent = (token + d / kFp8ScaleTile * 3) % 31 - 25;
      const float size = exponent == -25 ? 0 : std::ldexp(1.0f, exponent);
      tokens.latents.push_back(
          bf16_bits(random_value(5, Tensor::value, std::uint64_t(token * kLatent + d)) * size));
    }
    for (int d = 0; d < kRope; ++d) {
      tokens.rope.push_back(
          bf16_bits(random_value(6, Tensor::key, std::uint64_t(token * kRope + d))));
    }
  }
  return tokens;
}

/// Tokens on the device and a cache of `kSlots` rows.
struct OnDevice {
  static constexpr int kSlots = 4096;

  OnDevice(const NewTokens& tokens, const std::vector<std::uint8_t>& rows)
      : latents(DeviceBuffer<std::uint16_t>::copy_of(tokens.latents, stream.get()).value()),
        rope(DeviceBuffer<std::uint16_t>::copy_of(tokens.rope, stream.get()).value()),
        slots(DeviceBuffer<std::int32_t>::copy_of(tokens.slots, stream.get()).value()),
        cache(DeviceBuffer<std::uint8_t>::copy_of(rows, stream.get()).value()) {}

  Tokens view() const { return {latents.data(), rope.data(), slots.data(), slots.count()}; }
  std::vector<std::uint8_t> rows() const {
    std::vector<std::uint8_t> got(std::size_t(cache.count()));
    stream.synchronize().value();
    cuda_result(cudaMemcpy(got.data(), cache.data(), got.size(), cudaMemcpyDeviceToHost), "rows")
        .value();
    return got;
  }

  Stream stream = Stream::make().value();
  DeviceBuffer<std::uint16_t> latents, rope;
  DeviceBuffer<std::int32_t> slots;
  DeviceBuffer<std::uint8_t> cache;
};

TEST(KvWriteCuda, WritesTheBytesThatTheCpuWrites) {
  for (const ScaleRule rule : {ScaleRule::exact, ScaleRule::power_of_two}) {
    for (const int count : {0, 1, 9, 3000}) {
      const NewTokens tokens = tokens_of(count, OnDevice::kSlots);
      std::vector<std::uint8_t> wanted(std::size_t{OnDevice::kSlots} * kRowBytes, 0xAB);
      const OnDevice device(tokens, wanted);
      ASSERT_EQ(enqueue_write(device.view(), rule, device.cache.data(), device.stream.get()),
                cudaSuccess);
      write_rows(tokens.view(), rule, wanted.data());
      EXPECT_EQ(device.rows(), wanted) << count << " tokens";
    }
  }
}

TEST(KvWriteCuda, WritesTheBytesThatTheCpuWritesWithOneScaleAndCountsWhatSaturates) {
  for (const float scale : {0x1p-20f, 0.0123f, 1.0f}) {
    for (const int count : {0, 1, 9, 3000}) {
      const NewTokens tokens = tokens_of(count, OnDevice::kSlots);
      std::vector<std::uint8_t> wanted(std::size_t{OnDevice::kSlots} * kTensorRowBytes, 0xAB);
      const OnDevice device(tokens, wanted);
      const auto saturated =
          DeviceBuffer<unsigned long long>::copy_of(std::vector{5ull}, device.stream.get()).value();
      ASSERT_EQ(enqueue_tensor_write(device.view(), scale, device.cache.data(), saturated.data(),
                                     device.stream.get()),
                cudaSuccess);
      const std::int64_t beyond = write_tensor_rows(tokens.view(), scale, wanted.data());
      EXPECT_EQ(device.rows(), wanted) << count << " tokens, scale " << scale;
      unsigned long long counted = 0;
      cuda_result(cudaMemcpy(&counted, saturated.data(), sizeof counted, cudaMemcpyDeviceToHost),
                  "counted")
          .value();
      EXPECT_EQ(counted, 5 + static_cast<unsigned long long>(beyond));
    }
  }
}

}  // namespace
}  // namespace headsplit::kernels::kv_write
