#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>

#include "core/result.h"

namespace headsplit::agent {

/// What a matmul multiplies; sums are fp32 and the product is bf16.
enum class MatmulType { bf16, fp8 };

/// A square matmul through cuBLASLt, found at run time: D = A^T B, all of size x size values,
/// with the library's own first choice of algorithm.  FP8 sums are the hardware's fast ones.
class LtMatmul {
 public:
  /// Fails: io (no cuBLASLt), cuda (the library has no such matmul for this device; no memory for
  /// its workspace).
  static Result<LtMatmul> open(MatmulType type, int size);

  /// Enqueue one matmul of random values; does not wait.  Fails: cuda.
  Result<void> launch(cudaStream_t stream);

  double flops() const { return 2.0 * size_ * size_ * size_; }

 private:
  struct State;
  LtMatmul(int size, std::shared_ptr<State> state) : size_(size), state_(std::move(state)) {}
  int size_ = 0;
  std::shared_ptr<State> state_;
};

}  // namespace headsplit::agent
