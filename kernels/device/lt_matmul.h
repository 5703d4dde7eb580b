#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "core/result.h"

namespace headsplit::kernels {

/// cuBLASLt, found at run time: nothing of ours links it.
class LtLibrary;

/// Fails: io (no cuBLASLt on this machine, or too old a one), cuda (it does not start).
Result<std::shared_ptr<const LtLibrary>> open_cublaslt();

/// d[column, row] = sum over depth of a[row, i] x b[column, i], sums fp32, d in bf16.
struct LtShape {
  cudaDataType_t factors = CUDA_R_16BF;  ///< or CUDA_R_8F_E4M3
  bool fast_sums = false;                ///< FP8: the hardware's own
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t depth = 1;
  std::int64_t a_stride = 1;  ///< values from one row of a to the next
  std::int64_t b_stride = 1;
  std::int64_t d_stride = 1;
};

/// Memory of one launch, on the device.
struct LtOperands {
  const void* a = nullptr;
  const void* b = nullptr;
  void* d = nullptr;
  void* workspace = nullptr;  ///< LtMatmul::kWorkspaceBytes
};

/// One matmul of cuBLASLt with the library's own first choice of algorithm.
class LtMatmul {
 public:
  static constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;

  /// Fails: cuda (the library has no such matmul for this device).
  static Result<LtMatmul> make(std::shared_ptr<const LtLibrary> library, const LtShape& shape);

  /// Enqueues it; does not wait.  Fails: cuda.
  Result<void> launch(const LtOperands& operands, cudaStream_t stream) const;

 private:
  struct State;
  explicit LtMatmul(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace headsplit::kernels
