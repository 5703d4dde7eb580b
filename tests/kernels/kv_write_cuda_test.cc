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

TEST(KvWriteCuda, WritesTheBytesThatTheCpuWrites) {
  const Stream stream = Stream::make().value();
  for (const ScaleRule rule : {ScaleRule::exact, ScaleRule::power_of_two}) {
    for (const int count : {0, 1, 9, 3000}) {
      const int slots = 4096;
      const NewTokens tokens = tokens_of(count, slots);
      std::vector<std::uint8_t> wanted(std::size_t{4096} * kRowBytes, 0xAB);
      const auto latents =
          DeviceBuffer<std::uint16_t>::copy_of(tokens.latents, stream.get()).value();
      const auto rope = DeviceBuffer<std::uint16_t>::copy_of(tokens.rope, stream.get()).value();
      const auto places = DeviceBuffer<std::int32_t>::copy_of(tokens.slots, stream.get()).value();
      const auto cache = DeviceBuffer<std::uint8_t>::copy_of(wanted, stream.get()).value();
      const Tokens on_device{latents.data(), rope.data(), places.data(), count};
      ASSERT_EQ(enqueue_write(on_device, rule, cache.data(), stream.get()), cudaSuccess);
      std::vector<std::uint8_t> got(wanted.size());
      ASSERT_EQ(cudaMemcpyAsync(got.data(), cache.data(), got.size(), cudaMemcpyDeviceToHost,
                                stream.get()),
                cudaSuccess);
      ASSERT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
      write_rows(tokens.view(), rule, wanted.data());
      EXPECT_EQ(got, wanted) << count << " tokens";
    }
  }
}

}  // namespace
}  // namespace headsplit::kernels::kv_write
