#pragma once

#include <cstdint>

#include "kernels/cpu/aligned.h"
#include "kernels/cpu/thread_pool.h"

namespace headsplit::bench {

/// A large square sgemm by OpenBLAS on as many threads.
class SgemmCeiling {
 public:
  explicit SgemmCeiling(int threads);
  /// GFLOP/s of one multiplication.
  double sample_gflops();

 private:
  kernels::AlignedArray<float> a_, b_, c_;
};

/// Reading a buffer far larger than the last-level cache on as many threads.
class StreamCeiling {
 public:
  explicit StreamCeiling(int threads);
  /// GB/s of one pass.
  double sample_gbps();

 private:
  kernels::ThreadPool pool_;
  kernels::AlignedArray<std::uint64_t> buffer_;
};

}  // namespace headsplit::bench
