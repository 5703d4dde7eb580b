#include "agent/host_steps.h"

#include <chrono>

#include "kernels/cpu/thread_pool.h"

namespace headsplit::agent {
namespace {

using Clock = std::chrono::steady_clock;

double us_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double, std::micro>(end - start).count();
}

class HostSteps final : public RankSteps {
 public:
  HostSteps(Device& device, kernels::BoundKernel& kernel, tp::RankAttention& attention,
            tp::MeshGroup& control)
      : device_(device), kernel_(kernel), attention_(attention), control_(control) {}

  Result<LaunchTime> launch(Step step, L2 l2) override {
    if (l2 == L2::cold) TRY(device_.evict());
    TRY(control_.barrier());
    const auto start = Clock::now();
    auto reached = start;
    if (step == Step::overlapped) {
      TRY(overlap());
    } else {
      if (step != Step::collective) TRY(kernel_.launch(kernels::Part::all));
      reached = Clock::now();
      if (step != Step::attention) TRY(attention_.communicate());
    }
    const auto end = Clock::now();
    return LaunchTime{us_between(start, reached), us_between(start, end)};
  }

 private:
  /// Both at once, each in a thread: as when one half of a batch computes while the other's
  /// results are on the way.
  Result<void> overlap() {
    Result<void> outcomes[2];
    const auto body = [&](int index, int) {
      outcomes[index] = index == 0 ? kernel_.launch(kernels::Part::all) : attention_.communicate();
    };
    pair_.for_each(2, body);
    TRY(outcomes[0]);
    return outcomes[1];
  }

  Device& device_;
  kernels::BoundKernel& kernel_;
  tp::RankAttention& attention_;
  tp::MeshGroup& control_;
  kernels::ThreadPool pair_{2};
};

}  // namespace

std::unique_ptr<RankSteps> host_steps(Device& device, kernels::BoundKernel& kernel,
                                      tp::RankAttention& attention, tp::MeshGroup& control) {
  return std::make_unique<HostSteps>(device, kernel, attention, control);
}

}  // namespace headsplit::agent
