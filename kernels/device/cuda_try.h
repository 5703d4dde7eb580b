#pragma once

#include <cuda_runtime_api.h>

#include "core/log.h"
#include "core/result.h"

namespace headsplit::kernels {

/// What a CUDA call answered, as a value.  Fails: cuda (the call, CUDA's name and text).
inline Result<void> cuda_result(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return {};
  // Clears the error that the runtime keeps, or it would come back from an unrelated call.
  cudaGetLastError();
  return fail(ErrorKind::cuda, call, ": ", cudaGetErrorName(status), ", ",
              cudaGetErrorString(status));
}

/// For destructors: a failure is logged, and no one throws.
inline void cuda_log(cudaError_t status, const char* call) noexcept {
  if (status == cudaSuccess) return;
  log_line(LogLevel::warn, "cuda", "release failed",
           log_field("call", call) + log_field("error", cudaGetErrorName(status)));
}

}  // namespace headsplit::kernels

/// Runs a CUDA runtime call; returns its error from the enclosing function.
#define CUDA_TRY(call) TRY(::headsplit::kernels::cuda_result((call), #call))
/// The same where nothing can be returned.
#define CUDA_LOG(call) ::headsplit::kernels::cuda_log((call), #call)
