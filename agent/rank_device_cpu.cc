#include <chrono>

#include "agent/rank_device.h"
#include "kernels/cpu/thread_pool.h"
#include "tp/group/group.h"

/// A rank on a CPU: its kernel, and collectives over the mesh, timed by the steady clock.
namespace headsplit::agent {
namespace {

using Clock = std::chrono::steady_clock;

double us_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double, std::micro>(end - start).count();
}

std::vector<int> all_ranks(int size) {
  std::vector<int> ranks;
  for (int rank = 0; rank < size; ++rank) ranks.push_back(rank);
  return ranks;
}

class HostSteps final : public RankSteps {
 public:
  HostSteps(Device& device, kernels::BoundKernel& kernel, tp::RankAttention& attention,
            tp::MeshGroup& all)
      : device_(device), kernel_(kernel), attention_(attention), all_(all) {}

  Result<LaunchTime> launch(Step step, L2 l2) override {
    if (l2 == L2::cold) TRY(device_.evict());
    TRY(all_.barrier());
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
  tp::MeshGroup& all_;
  kernels::ThreadPool pair_{2};
};

class HostMessageSteps final : public RankSteps {
 public:
  HostMessageSteps(const CollectiveMessage& message, tp::MeshGroup& all)
      : message_(message), all_(all), in_(message.input()), out_(in_.size()) {}

  Result<void> check() {
    TRY(message_.run(all_, in_.data(), out_.data()));
    return message_.check(out_);
  }

  Result<LaunchTime> launch(Step, L2) override {
    TRY(all_.barrier());
    const auto start = Clock::now();
    TRY(message_.run(all_, in_.data(), out_.data()));
    return LaunchTime{0, us_between(start, Clock::now())};
  }

 private:
  CollectiveMessage message_;
  tp::MeshGroup& all_;
  std::vector<std::uint16_t> in_;
  std::vector<std::uint16_t> out_;
};

class HostJoinedRank final : public JoinedRank {
 public:
  HostJoinedRank(Device& device, tp::Mesh& mesh, const Layout& layout)
      : device_(device),
        all_(mesh, all_ranks(mesh.size())),
        context_(mesh, tp::context_members(layout, mesh.rank())),
        requests_(mesh, tp::request_members(layout, mesh.rank())) {}

  Result<tp::RankAttention*> attention(const kernels::BoundKernel& kernel,
                                       const kernels::Problem& shard, const Lease& lease) override {
    const tp::RankGroups groups{.context = context_.size() > 1 ? &context_ : nullptr,
                                .requests = requests_.size() > 1 ? &requests_ : nullptr};
    attention_ =
        TRY(tp::host_rank_attention(kernel, shard, groups, lease.gang.merge, lease.gang.hidden));
    return attention_.get();
  }

  Result<std::unique_ptr<RankSteps>> steps(kernels::BoundKernel& kernel) override {
    return std::make_unique<HostSteps>(device_, kernel, *attention_, all_);
  }

  Result<std::unique_ptr<RankSteps>> steps(const CollectiveMessage& message) override {
    auto steps = std::make_unique<HostMessageSteps>(message, all_);
    TRY(steps->check());
    return steps;
  }

 private:
  Device& device_;
  tp::MeshGroup all_;
  tp::MeshGroup context_;
  tp::MeshGroup requests_;
  std::unique_ptr<tp::RankAttention> attention_;
};

class HostRankDevice final : public RankDevice {
 public:
  explicit HostRankDevice(Device& device) : device_(device) {}

  std::string transport() const override { return "sockets"; }
  std::string kept_ids(const GangSeat&) const override { return ""; }

  Result<std::unique_ptr<JoinedRank>> join(tp::Mesh& mesh, const std::vector<std::string>&,
                                           const Lease& lease) override {
    return std::make_unique<HostJoinedRank>(device_, mesh, lease.point.layout);
  }

 private:
  Device& device_;
};

}  // namespace

std::unique_ptr<RankDevice> host_rank_device(Device& device) {
  return std::make_unique<HostRankDevice>(device);
}

}  // namespace headsplit::agent
