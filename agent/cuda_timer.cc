#include "agent/cuda_timer.h"

#include <algorithm>
#include <cmath>

#include "core/log.h"

namespace headsplit::agent {

using kernels::BoundKernel;
using kernels::CudaGraph;
using kernels::DeviceBuffer;
using kernels::Event;
using kernels::Part;
using kernels::Stream;

namespace {

/// Samples that are enqueued on a held stream at once.
constexpr int kHeldSamples = 16;
/// Launches of a graph, unless one sample has more: so many that the host's share of a replay is
/// small.
constexpr int kGraphSamples = 32;
/// Launches shorter than this are timed in graphs: enqueuing one while the stream is held costs the
/// host some ten microseconds, in which the GPU does nothing.
constexpr double kShortUs = 200;
/// What a graph of short launches with a warm cache should take, for one sample.
constexpr double kWarmSampleUs = 500;
constexpr int kRepeatsMax = 64;
/// Events do not tell less than some tens of nanoseconds apart.
constexpr double kSampleDigits = 1e3;

double rounded_us(double time_us) { return std::round(time_us * kSampleDigits) / kSampleDigits; }

}  // namespace

bool CudaTimer::Trial::is_short() const { return about_us < kShortUs; }

int CudaTimer::Trial::repeats() const {
  if (l2 == L2::cold || !is_short()) return 1;
  return std::clamp(static_cast<int>(kWarmSampleUs / std::max(about_us, 1.0)), 1, kRepeatsMax);
}

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

Result<void> CudaTimer::enqueue(BoundKernel& kernel, const Batch& batch,
                                unsigned event_flags) const {
  for (int i = 0; i < batch.samples; ++i) {
    const Span& span = spans_[static_cast<std::size_t>(i)];
    if (batch.poisons) TRY(kernel.poison());
    if (trial_->l2 == L2::cold) TRY(evict());
    CUDA_TRY(cudaEventRecordWithFlags(span.start.get(), stream_.get(), event_flags));
    for (int k = 0; k < batch.repeats; ++k) TRY(kernel.launch(trial_->part));
    CUDA_TRY(cudaEventRecordWithFlags(span.end.get(), stream_.get(), event_flags));
  }
  return {};
}

Result<CudaTimer::Batch> CudaTimer::start_held(BoundKernel& kernel, Batch batch) {
  TRY(synchronize());
  TRY(hold_.hold(stream_.get()));
  const Result<void> enqueued = enqueue(kernel, batch, cudaEventRecordDefault);
  hold_.release();
  TRY(enqueued);
  batch.held = true;
  return batch;
}

Result<CudaGraph> CudaTimer::captured(BoundKernel& kernel, const Batch& batch) const {
  return CudaGraph::capture(stream_.get(),
                            [&] { return enqueue(kernel, batch, cudaEventRecordExternal); });
}

Result<void> CudaTimer::collect(const Batch& batch, Timed& timed) const {
  TRY(synchronize());
  for (int i = 0; i < batch.samples; ++i) {
    const Span& span = spans_[static_cast<std::size_t>(i)];
    timed.samples_us.push_back(rounded_us(TRY(span.end.since_us(span.start)) / batch.repeats));
  }
  const Span& last = spans_[static_cast<std::size_t>(batch.samples - 1)];
  timed.gpu_s += TRY(last.end.since_us(spans_.front().start)) * 1e-6;
  if (batch.held && hold_.timed_out()) {
    log_line(LogLevel::warn, "timer", "the stream was not held until all launches were enqueued");
  }
  return {};
}

/// The first launch of a kernel loads its code, which would wait for a held stream; a second one
/// says how to time the others.
Result<void> CudaTimer::try_out(BoundKernel& kernel, Part part, L2 l2) {
  if (trial_ && trial_->kernel == &kernel && trial_->part == part && trial_->l2 == l2) return {};
  trial_.emplace(Trial{.kernel = &kernel, .part = part, .l2 = l2});
  TRY(make_spans(kGraphSamples));
  TRY(evict());
  TRY(kernel.launch(part));
  Timed timed;
  const Batch one = TRY(start_held(kernel, {}));
  TRY(collect(one, timed));
  trial_->about_us = timed.samples_us.front();
  return {};
}

Result<CudaTimer::Batch> CudaTimer::start(BoundKernel& kernel, int missing) {
  if (!trial_->is_short()) {
    return start_held(kernel, {.samples = std::min(missing, kHeldSamples)});
  }
  const int repeats = trial_->repeats();
  const int samples_max = std::max(1, kGraphSamples / repeats);
  const int samples = std::min(missing, samples_max);
  if (!trial_->graph || (samples == samples_max && trial_->graph_samples < samples)) {
    const Batch batch{.samples = samples, .repeats = repeats};
    trial_->graph.emplace(TRY(captured(kernel, batch)));
    trial_->graph_samples = samples;
  }
  TRY(trial_->graph->launch(stream_.get()));
  return Batch{.samples = trial_->graph_samples, .repeats = repeats};
}

Result<Timed> CudaTimer::time(BoundKernel& kernel, const TimeRequest& request) {
  TRY(try_out(kernel, request.part, request.l2));
  Timed timed;
  for (int missing = request.launches; missing > 0;) {
    const Batch batch = TRY(start(kernel, missing));
    missing -= batch.samples;
    TRY(collect(batch, timed));
  }
  return timed;
}

Result<double> CudaTimer::time_poisoned_us(BoundKernel& kernel, L2 l2) {
  TRY(try_out(kernel, Part::all, l2));
  const Batch batch{.poisons = true};
  Timed timed;
  if (trial_->is_short()) {
    const CudaGraph graph = TRY(captured(kernel, batch));
    TRY(graph.launch(stream_.get()));
    TRY(collect(batch, timed));
  } else {
    const Batch held = TRY(start_held(kernel, batch));
    TRY(collect(held, timed));
  }
  return timed.samples_us.front();
}

}  // namespace headsplit::agent
