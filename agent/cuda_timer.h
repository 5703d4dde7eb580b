#pragma once

#include <vector>

#include "agent/cuda_hold.h"
#include "core/point.h"
#include "kernels/device/buffer.h"
#include "kernels/device/event.h"
#include "kernels/device/stream.h"
#include "kernels/kernel.h"

namespace headsplit::agent {

/// Times launches on one stream with events, each between two of its own.
///   long launches:  a held stream, [evict] event launch event, several at a time
///   short launches: the same inside a CUDA graph, so that no launch overhead of the host is seen;
///                   with a warm cache each sample is the mean of a graph of many launches
class CudaTimer {
 public:
  /// l2_bytes: of the cache to evict; twice as much is read for it.  Fails: cuda.
  static Result<CudaTimer> make(std::int64_t l2_bytes, int sm_count);

  cudaStream_t stream() const { return stream_.get(); }
  Result<void> synchronize() const { return stream_.synchronize(); }
  /// Enqueues the eviction of the L2 cache: by reading, so that nothing dirty is left to be written
  /// back while something else is measured.
  Result<void> evict() const;

  /// Time of each launch in microseconds, in order.  Fails: cuda, or as the kernel does.
  Result<std::vector<double>> time_us(kernels::BoundKernel& kernel, kernels::Part part, L2 l2,
                                      int launches);

 private:
  using Samples = std::vector<double>;
  struct Span {
    kernels::Event start;
    kernels::Event end;
  };

  CudaTimer(kernels::Stream stream, StreamHold hold, kernels::DeviceBuffer<unsigned char> evictor,
            int sm_count)
      : stream_(std::move(stream)),
        hold_(std::move(hold)),
        evictor_(std::move(evictor)),
        sm_count_(sm_count) {}

  Result<void> make_spans(int count);
  /// Event flags: cudaEventRecordExternal makes a node of a graph that is being captured.
  Result<void> enqueue_sample(kernels::BoundKernel& kernel, kernels::Part part, L2 l2,
                              const Span& span, int repeats, unsigned event_flags) const;
  Result<void> collect(int count, int repeats, Samples& samples_us) const;
  Result<void> time_held(kernels::BoundKernel& kernel, kernels::Part part, L2 l2, int count,
                         Samples& samples_us);
  Result<void> time_in_graph(kernels::BoundKernel& kernel, kernels::Part part, L2 l2, int count,
                             int repeats, Samples& samples_us);

  kernels::Stream stream_;
  StreamHold hold_;
  kernels::DeviceBuffer<unsigned char> evictor_;
  int sm_count_ = 0;
  std::vector<Span> spans_;
};

}  // namespace headsplit::agent
