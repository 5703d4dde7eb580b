#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>

#include "agent/ceilings.h"
#include "core/dynamic_library.h"
#include "core/stats.h"
#include "kernels/cpu/aligned.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/random_value.h"

namespace headsplit::agent {

namespace {

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
constexpr std::int64_t kReadLeastBytes = 256 * kMebibyte;
constexpr int kLaunches = 5;
/// One matmul of this size takes tens of milliseconds on a few cores, and still fills many.
constexpr int kMatmulSize = 1024;

/// The BLAS enums, as every CBLAS has them.
constexpr int kRowMajor = 101;
constexpr int kNoTranspose = 111;
using Sgemm = void(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                   const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);

/// Median seconds of a launch, after one that is not counted.
double median_s(int launches, const std::function<void()>& launch) {
  using Clock = std::chrono::steady_clock;
  launch();
  std::vector<double> samples_s;
  for (int i = 0; i < launches; ++i) {
    const Clock::time_point start = Clock::now();
    launch();
    samples_s.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  return quantile(samples_s, 0.5);
}

/// Random bits from 4 KiB of them: memory does not care, and making each word would take longer
/// than all the measuring.
void fill_random(std::uint64_t* words, std::size_t count) {
  constexpr std::size_t kPattern = 512;
  for (std::size_t i = 0; i < std::min(count, kPattern); ++i) {
    words[i] = kernels::random_bits(1, kernels::Tensor::cache, i);
  }
  for (std::size_t i = kPattern; i < count; i += kPattern) {
    std::memcpy(words + i, words, std::min(kPattern, count - i) * sizeof(std::uint64_t));
  }
}

/// Sum of 64-bit words in eight chains, so that loads and not additions are the limit.
std::uint64_t sum_words(const std::uint64_t* words, std::size_t count) {
  constexpr std::size_t kChains = 8;
  std::uint64_t sums[kChains] = {};
  for (std::size_t i = 0; i + kChains <= count; i += kChains) {
    for (std::size_t chain = 0; chain < kChains; ++chain) sums[chain] += words[i + chain];
  }
  std::uint64_t sum = 0;
  for (std::uint64_t part : sums) sum += part;
  return sum;
}

std::int64_t read_bytes(const DeviceInfo& info, const CeilingSizes& sizes) {
  if (sizes.read_bytes > 0) return sizes.read_bytes;
  const std::int64_t wanted = std::max(kReadLeastBytes, 4 * info.last_level_cache_bytes);
  return std::max(kMebibyte, std::min(wanted, info.memory_bytes / 4)) / kMebibyte * kMebibyte;
}

void measure_memory(std::int64_t bytes, int launches, Ceilings& ceilings) {
  kernels::ThreadPool pool(kernels::available_threads());
  const std::size_t chunk_words = kMebibyte / sizeof(std::uint64_t);
  const int chunks = static_cast<int>(bytes / kMebibyte);
  const auto words = kernels::make_aligned<std::uint64_t>(chunks * chunk_words);
  pool.for_each(chunks, [&](int chunk, int) {
    fill_random(words.get() + static_cast<std::size_t>(chunk) * chunk_words, chunk_words);
  });

  std::atomic<std::uint64_t> checksum{0};  // kept, so that the loop cannot be left out
  const double read_s = median_s(launches, [&] {
    pool.for_each(chunks, [&](int chunk, int) {
      checksum +=
          sum_words(words.get() + static_cast<std::size_t>(chunk) * chunk_words, chunk_words);
    });
  });
  ceilings.read_gbps = static_cast<double>(chunks) * kMebibyte / read_s * 1e-9;

  const int half = chunks / 2;
  if (half == 0) return;
  const double copy_s = median_s(launches, [&] {
    pool.for_each(half, [&](int chunk, int) {
      const std::uint64_t* from = words.get() + static_cast<std::size_t>(chunk) * chunk_words;
      std::memcpy(words.get() + static_cast<std::size_t>(chunk + half) * chunk_words, from,
                  kMebibyte);
    });
  });
  ceilings.copy_gbps = 2.0 * half * kMebibyte / copy_s * 1e-9;
}

Result<void> measure_matmul(Device& device, int size, int launches, Ceilings& ceilings) {
  const DynamicLibrary library =
      TRY(DynamicLibrary::open({"libopenblas.so.0", "libopenblas.so", "libblas.so.3"}));
  Sgemm* sgemm = nullptr;
  TRY(library.bind("cblas_sgemm", sgemm));
  if (auto* set_threads =
          reinterpret_cast<void (*)(int)>(library.find("openblas_set_num_threads"))) {
    set_threads(kernels::available_threads());
  }
  const std::size_t count = static_cast<std::size_t>(size) * size;
  std::vector<float> a(count), b(count), c(count);
  for (std::size_t i = 0; i < count; ++i) {
    a[i] = kernels::random_value(1, kernels::Tensor::query, i);
    b[i] = kernels::random_value(1, kernels::Tensor::cache, i);
  }
  const double seconds = median_s(launches, [&] {
    sgemm(kRowMajor, kNoTranspose, kNoTranspose, size, size, size, 1, a.data(), size, b.data(),
          size, 0, c.data(), size);
  });
  note_state(device.state(), ceilings);
  ceilings.fp32_tflops = 2.0 * size * size * size / seconds * 1e-12;
  return {};
}

}  // namespace

Result<void> measure_cpu_ceilings(Device& device, CeilingSizes sizes, Ceilings& ceilings) {
  const int launches = sizes.launches > 0 ? sizes.launches : kLaunches;
  const int threads = device.info().compute_units;
  const int size =
      sizes.matmul_size > 0 ? sizes.matmul_size : (threads > 8 ? 2 * kMatmulSize : kMatmulSize);
  measure_memory(read_bytes(device.info(), sizes), launches, ceilings);
  const auto measured = measure_matmul(device, size, launches, ceilings);
  if (!measured) add_reason(ceilings, "no matmul ceiling: " + measured.error().message);
  return {};
}

}  // namespace headsplit::agent
