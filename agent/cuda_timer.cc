#include "agent/cuda_timer.h"

#include <algorithm>

#include "agent/cuda_graph.h"
#include "core/log.h"

namespace headsplit::agent {

using kernels::BoundKernel;
using kernels::DeviceBuffer;
using kernels::Event;
using kernels::Part;
using kernels::Stream;

namespace {

/// Samples that are enqueued at once.
constexpr int kBatch = 16;
/// Launches shorter than this are timed in graphs.
constexpr double kShortUs = 50;
/// What a graph of short launches with a warm cache should take, for one sample.
constexpr double kWarmSampleUs = 500;
constexpr int kRepeatsMax = 64;

}  // namespace

Result<CudaTimer> CudaTimer::make(std::int64_t l2_bytes, int sm_count) {
  auto stream = TRY(Stream::make());
  auto hold = TRY(StreamHold::make());
  auto evictor = TRY(DeviceBuffer<unsigned char>::make(2 * l2_bytes));
  CUDA_TRY(cudaMemsetAsync(evictor.data(), 1, evictor.bytes(), stream.get()));
  TRY(stream.synchronize());
  return CudaTimer(std::move(stream), std::move(hold), std::move(evictor), sm_count);
}

Result<void> CudaTimer::evict() const {
  return kernels::cuda_result(
      enqueue_read(evictor_.data(), evictor_.bytes(), sm_count_, stream_.get()), "evicting L2");
}

Result<void> CudaTimer::make_spans(int count) {
  while (static_cast<int>(spans_.size()) < count) {
    auto start = TRY(Event::make());
    auto end = TRY(Event::make());
    spans_.push_back(Span{std::move(start), std::move(end)});
  }
  return {};
}

Result<void> CudaTimer::enqueue_sample(BoundKernel& kernel, Part part, L2 l2, const Span& span,
                                       int repeats, unsigned event_flags) const {
  if (l2 == L2::cold) TRY(evict());
  CUDA_TRY(cudaEventRecordWithFlags(span.start.get(), stream_.get(), event_flags));
  for (int i = 0; i < repeats; ++i) TRY(kernel.launch(part));
  CUDA_TRY(cudaEventRecordWithFlags(span.end.get(), stream_.get(), event_flags));
  return {};
}

Result<void> CudaTimer::collect(int count, int repeats, Samples& samples_us) const {
  TRY(synchronize());
  for (int i = 0; i < count; ++i) {
    const Span& span = spans_[static_cast<std::size_t>(i)];
    samples_us.push_back(TRY(span.end.since_us(span.start)) / repeats);
  }
  return {};
}

Result<void> CudaTimer::time_held(BoundKernel& kernel, Part part, L2 l2, int count,
                                  Samples& samples_us) {
  TRY(synchronize());
  TRY(hold_.hold(stream_.get()));
  Result<void> enqueued;
  for (int i = 0; i < count && enqueued; ++i) {
    enqueued = enqueue_sample(kernel, part, l2, spans_[static_cast<std::size_t>(i)], 1,
                              cudaEventRecordDefault);
  }
  hold_.release();
  TRY(enqueued);
  TRY(collect(count, 1, samples_us));
  if (hold_.timed_out()) {
    log_line(LogLevel::warn, "timer", "the stream was not held until all launches were enqueued");
  }
  return {};
}

Result<void> CudaTimer::time_in_graph(BoundKernel& kernel, Part part, L2 l2, int count, int repeats,
                                      Samples& samples_us) {
  const auto enqueue = [&]() -> Result<void> {
    for (int i = 0; i < count; ++i) {
      TRY(enqueue_sample(kernel, part, l2, spans_[static_cast<std::size_t>(i)], repeats,
                         cudaEventRecordExternal));
    }
    return {};
  };
  const CudaGraph graph = TRY(CudaGraph::capture(stream_.get(), enqueue));
  TRY(graph.launch(stream_.get()));
  return collect(count, repeats, samples_us);
}

Result<std::vector<double>> CudaTimer::time_us(BoundKernel& kernel, Part part, L2 l2,
                                               int launches) {
  TRY(make_spans(std::min(launches, kBatch)));
  // The first launch of a kernel loads its code, which would wait for a held stream.
  TRY(evict());
  TRY(kernel.launch(part));
  Samples trial_us;
  TRY(time_held(kernel, part, l2, 1, trial_us));
  const double about_us = trial_us.front();
  const bool is_short = about_us < kShortUs;
  const int repeats =
      l2 == L2::cold
          ? 1
          : std::clamp(static_cast<int>(kWarmSampleUs / std::max(about_us, 1.0)), 1, kRepeatsMax);
  Samples samples_us;
  while (static_cast<int>(samples_us.size()) < launches) {
    const int count = std::min(kBatch, launches - static_cast<int>(samples_us.size()));
    if (is_short) {
      TRY(time_in_graph(kernel, part, l2, count, repeats, samples_us));
    } else {
      TRY(time_held(kernel, part, l2, count, samples_us));
    }
  }
  return samples_us;
}

}  // namespace headsplit::agent
