#pragma once

#include <functional>
#include <utility>

#include "kernels/device/cuda_try.h"

namespace headsplit::kernels {

/// An executable CUDA graph.  Move-only.
class CudaGraph {
 public:
  /// Captures what `enqueue` puts into the stream.  Fails: as `enqueue` does, or cuda.
  static Result<CudaGraph> capture(cudaStream_t stream,
                                   const std::function<Result<void>()>& enqueue) {
    CUDA_TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    const Result<void> enqueued = enqueue();
    cudaGraph_t graph = nullptr;
    const auto ended = cuda_result(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    CudaGraph made;
    auto outcome = enqueued ? ended : enqueued;
    if (outcome) {
      outcome =
          cuda_result(cudaGraphInstantiate(&made.executable_, graph, 0), "cudaGraphInstantiate");
    }
    if (graph != nullptr) CUDA_LOG(cudaGraphDestroy(graph));
    if (!outcome) return outcome.error();
    return made;
  }
  CudaGraph(CudaGraph&& other) noexcept : executable_(std::exchange(other.executable_, nullptr)) {}
  CudaGraph& operator=(CudaGraph&& other) noexcept {
    std::swap(executable_, other.executable_);
    return *this;
  }
  ~CudaGraph() {
    if (executable_ != nullptr) CUDA_LOG(cudaGraphExecDestroy(executable_));
  }

  Result<void> launch(cudaStream_t stream) const {
    return cuda_result(cudaGraphLaunch(executable_, stream), "cudaGraphLaunch");
  }

 private:
  CudaGraph() = default;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace headsplit::kernels
