#include "agent/rank_steps_cuda.h"

#include "kernels/device/buffer.h"
#include "kernels/device/event.h"
#include "kernels/device/stream.h"

namespace headsplit::agent {
namespace {

using kernels::DeviceBuffer;
using kernels::Event;
using kernels::Stream;

/// The moments of a launch on the device.
struct Moments {
  Event start;
  Event reached;
  Event end;
  Event communicated;

  static Result<Moments> make() {
    auto start = TRY(Event::make());
    auto reached = TRY(Event::make());
    auto end = TRY(Event::make());
    auto communicated = TRY(Event::make());
    return Moments{std::move(start), std::move(reached), std::move(end), std::move(communicated)};
  }
};

/// All ranks together, on the stream.
class CudaBarrier {
 public:
  static Result<CudaBarrier> make(tp::NcclGroup& all) {
    auto values = TRY(DeviceBuffer<std::uint16_t>::make(2));
    CUDA_TRY(cudaMemset(values.data(), 0, values.bytes()));
    return CudaBarrier(all, std::move(values));
  }
  Result<void> enqueue() { return all_.all_reduce(values_.data(), values_.data() + 1, 1); }

 private:
  CudaBarrier(tp::NcclGroup& all, DeviceBuffer<std::uint16_t> values)
      : all_(all), values_(std::move(values)) {}
  tp::NcclGroup& all_;
  DeviceBuffer<std::uint16_t> values_;
};

class CudaSteps final : public RankSteps {
 public:
  CudaSteps(Device& device, kernels::BoundKernel& kernel, tp::CudaRankAttention& attention,
            CudaBarrier barrier, Moments moments, Stream side)
      : device_(device),
        stream_(static_cast<cudaStream_t>(device.stream())),
        kernel_(kernel),
        attention_(attention),
        barrier_(std::move(barrier)),
        moments_(std::move(moments)),
        side_(std::move(side)) {}

  Result<LaunchTime> launch(Step step, L2 l2) override {
    if (l2 == L2::cold) TRY(device_.evict());
    TRY(barrier_.enqueue());
    TRY(moments_.start.record(stream_));
    TRY(enqueue(step));
    TRY(moments_.end.record(stream_));
    CUDA_TRY(cudaStreamSynchronize(stream_));
    LaunchTime time;
    time.total_us = TRY(moments_.end.since_us(moments_.start));
    if (step == Step::attention) time.attention_us = time.total_us;
    if (step == Step::sequence) time.attention_us = TRY(moments_.reached.since_us(moments_.start));
    return time;
  }

 private:
  /// An event between two launches takes the stream some microseconds: only where both are there.
  Result<void> enqueue(Step step) {
    if (step == Step::overlapped) return overlap();
    if (step != Step::collective) TRY(kernel_.launch(kernels::Part::all));
    if (step == Step::sequence) TRY(moments_.reached.record(stream_));
    if (step == Step::attention) return {};
    return attention_.communicate();
  }

  /// Both at once, on two streams: as when one half of a batch computes while the other's results
  /// are on the way.
  Result<void> overlap() {
    CUDA_TRY(cudaStreamWaitEvent(side_.get(), moments_.start.get()));
    attention_.set_stream(side_.get());
    const auto enqueued = attention_.communicate();
    attention_.set_stream(stream_);
    TRY(enqueued);
    TRY(moments_.communicated.record(side_.get()));
    TRY(kernel_.launch(kernels::Part::all));
    CUDA_TRY(cudaStreamWaitEvent(stream_, moments_.communicated.get()));
    return {};
  }

  Device& device_;
  cudaStream_t stream_;
  kernels::BoundKernel& kernel_;
  tp::CudaRankAttention& attention_;
  CudaBarrier barrier_;
  Moments moments_;
  Stream side_;
};

class CudaMessageSteps final : public RankSteps {
 public:
  CudaMessageSteps(const CollectiveMessage& message, tp::NcclGroup& all, CudaBarrier barrier,
                   Moments moments, cudaStream_t stream)
      : message_(message),
        all_(all),
        barrier_(std::move(barrier)),
        moments_(std::move(moments)),
        stream_(stream) {}

  Result<void> prepare() {
    const auto input = message_.input();
    in_ = TRY(DeviceBuffer<std::uint16_t>::copy_of(input, stream_));
    out_ = TRY(DeviceBuffer<std::uint16_t>::make(in_.count()));
    TRY(message_.run(all_, in_.data(), out_.data()));
    CUDA_TRY(cudaStreamSynchronize(stream_));
    std::vector<std::uint16_t> output(input.size());
    CUDA_TRY(cudaMemcpy(output.data(), out_.data(), out_.bytes(), cudaMemcpyDeviceToHost));
    return message_.check(output);
  }

  Result<LaunchTime> launch(Step, L2) override {
    TRY(barrier_.enqueue());
    TRY(moments_.start.record(stream_));
    TRY(message_.run(all_, in_.data(), out_.data()));
    TRY(moments_.end.record(stream_));
    CUDA_TRY(cudaStreamSynchronize(stream_));
    const double gpu_us = TRY(moments_.end.since_us(moments_.start));
    return LaunchTime{0, gpu_us};
  }

 private:
  CollectiveMessage message_;
  tp::NcclGroup& all_;
  CudaBarrier barrier_;
  Moments moments_;
  cudaStream_t stream_;
  DeviceBuffer<std::uint16_t> in_;
  DeviceBuffer<std::uint16_t> out_;
};

}  // namespace

Result<std::unique_ptr<RankSteps>> cuda_steps(Device& device, kernels::BoundKernel& kernel,
                                              tp::CudaRankAttention& attention,
                                              tp::NcclGroup& all) {
  auto barrier = TRY(CudaBarrier::make(all));
  auto moments = TRY(Moments::make());
  auto side = TRY(Stream::make());
  return std::make_unique<CudaSteps>(device, kernel, attention, std::move(barrier),
                                     std::move(moments), std::move(side));
}

Result<std::unique_ptr<RankSteps>> cuda_message_steps(const CollectiveMessage& message,
                                                      tp::NcclGroup& all, cudaStream_t stream) {
  auto barrier = TRY(CudaBarrier::make(all));
  auto moments = TRY(Moments::make());
  auto steps = std::make_unique<CudaMessageSteps>(message, all, std::move(barrier),
                                                  std::move(moments), stream);
  TRY(steps->prepare());
  return steps;
}

}  // namespace headsplit::agent
