#pragma once

#include <optional>
#include <vector>

#include "agent/cuda_hold.h"
#include "agent/device.h"
#include "kernels/device/buffer.h"
#include "kernels/device/cuda_graph.h"
#include "kernels/device/event.h"
#include "kernels/device/stream.h"

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

  /// Times of launches; in graphs their number is rounded up to whole graphs.  `gpu_s` is the sum
  /// over the batches from the first timed launch to the end of the last: the first eviction, the
  /// warm-up and all gaps between batches are left out.  Fails: cuda, or as the kernel does.
  Result<Timed> time(kernels::BoundKernel& kernel, const TimeRequest& request);

  /// See Device::time_poisoned_us.
  Result<double> time_poisoned_us(kernels::BoundKernel& kernel, L2 l2);

  /// What is known of the kernel timed last no longer holds: another may be at its address.
  void forget() { trial_.reset(); }

 private:
  struct Span {
    kernels::Event start;
    kernels::Event end;
  };
  /// What is known of the launches timed last, so that more of them need no warm-up.
  struct Trial {
    const kernels::BoundKernel* kernel = nullptr;
    kernels::Part part = kernels::Part::all;
    L2 l2 = L2::cold;
    double about_us = 0;
    std::optional<kernels::CudaGraph> graph;  ///< of `graph_samples` samples
    int graph_samples = 0;

    bool is_short() const;
    /// Launches that are timed as one sample.
    int repeats() const;
  };
  /// Samples that are enqueued at once.
  struct Batch {
    int samples = 1;
    int repeats = 1;
    bool poisons = false;
    bool held = false;
  };

  CudaTimer(kernels::Stream stream, StreamHold hold, kernels::DeviceBuffer<unsigned char> evictor,
            int sm_count)
      : stream_(std::move(stream)),
        hold_(std::move(hold)),
        evictor_(std::move(evictor)),
        sm_count_(sm_count) {}

  Result<void> make_spans(int count);
  Result<void> try_out(kernels::BoundKernel& kernel, kernels::Part part, L2 l2);
  /// Event flags: cudaEventRecordExternal makes a node of a graph that is being captured.
  Result<void> enqueue(kernels::BoundKernel& kernel, const Batch& batch,
                       unsigned event_flags) const;
  Result<Batch> start_held(kernels::BoundKernel& kernel, Batch batch);
  Result<kernels::CudaGraph> captured(kernels::BoundKernel& kernel, const Batch& batch) const;
  /// Starts one batch and says what it is, of at most `missing` samples where it can choose.
  Result<Batch> start(kernels::BoundKernel& kernel, int missing);
  /// Waits, and adds what was measured.
  Result<void> collect(const Batch& batch, Timed& timed) const;

  kernels::Stream stream_;
  StreamHold hold_;
  kernels::DeviceBuffer<unsigned char> evictor_;
  int sm_count_ = 0;
  std::vector<Span> spans_;
  std::optional<Trial> trial_;
};

}  // namespace headsplit::agent
