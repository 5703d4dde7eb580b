#include "bench/cpu_ceilings.h"

#include <cblas.h>

#include <algorithm>
#include <atomic>

#include "bench/stopwatch.h"

extern "C" void openblas_set_num_threads(int threads);

namespace headsplit::bench {
namespace {

/// Large enough that packing and edges do not count, small enough for many samples.
constexpr int kSgemmSize = 1536;
constexpr std::size_t kStreamBytes = std::size_t{512} << 20;
constexpr std::size_t kChunkWords = (std::size_t{1} << 20) / sizeof(std::uint64_t);

/// The sum keeps the compiler from leaving out the reads; on x86 with the widest loads there are.
#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
std::uint64_t
sum_words(const std::uint64_t* words, std::size_t count) {
  std::uint64_t sums[32] = {};
  for (std::size_t i = 0; i < count; i += 32) {
    for (std::size_t lane = 0; lane < 32; ++lane) sums[lane] += words[i + lane];
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t lane : sums) sum += lane;
  return sum;
}

}  // namespace

SgemmCeiling::SgemmCeiling(int threads)
    : a_(kernels::make_aligned<float>(kSgemmSize * kSgemmSize)),
      b_(kernels::make_aligned<float>(kSgemmSize * kSgemmSize)),
      c_(kernels::make_zeroed<float>(kSgemmSize * kSgemmSize)) {
  openblas_set_num_threads(threads);
  for (int i = 0; i < kSgemmSize * kSgemmSize; ++i) {
    a_[std::size_t(i)] = static_cast<float>(i % 17) - 8;
    b_[std::size_t(i)] = static_cast<float>(i % 13) - 6;
  }
  sample_gflops();
}

double SgemmCeiling::sample_gflops() {
  const double seconds = seconds_of([this] {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, kSgemmSize, kSgemmSize, kSgemmSize, 1,
                a_.get(), kSgemmSize, b_.get(), kSgemmSize, 0, c_.get(), kSgemmSize);
  });
  return 2.0 * kSgemmSize * kSgemmSize * kSgemmSize / seconds * 1e-9;
}

StreamCeiling::StreamCeiling(int threads)
    : pool_(threads),
      buffer_(kernels::make_aligned<std::uint64_t>(kStreamBytes / sizeof(std::uint64_t))) {
  pool_.for_each(static_cast<int>(kStreamBytes / sizeof(std::uint64_t) / kChunkWords),
                 [this](int chunk, int) {
                   std::fill_n(buffer_.get() + std::size_t(chunk) * kChunkWords, kChunkWords,
                               std::uint64_t(chunk) + 1);
                 });
}

double StreamCeiling::sample_gbps() {
  std::atomic<std::uint64_t> checksum{0};
  const double seconds = seconds_of([&] {
    pool_.for_each(
        static_cast<int>(kStreamBytes / sizeof(std::uint64_t) / kChunkWords), [&](int chunk, int) {
          checksum += sum_words(buffer_.get() + std::size_t(chunk) * kChunkWords, kChunkWords);
        });
  });
  return static_cast<double>(kStreamBytes) / seconds * 1e-9;
}

}  // namespace headsplit::bench
