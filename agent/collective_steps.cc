#include "agent/collective_steps.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "kernels/bf16.h"

namespace headsplit::agent {
namespace {

using Clock = std::chrono::steady_clock;
using kernels::bf16_bits;
using kernels::bf16_value;
using std::size_t;

/// Whole numbers below 2^8 are exact in bf16, and so are the sums of few of them.
float input_value(int rank, std::int64_t index) { return static_cast<float>((rank + index) % 5); }

class CollectiveSteps final : public RankSteps {
 public:
  CollectiveSteps(std::string name, std::int64_t message_bytes, tp::MeshGroup& group)
      : name_(std::move(name)), group_(group) {
    const std::int64_t values = std::max<std::int64_t>(1, message_bytes / 2);
    part_ = (values + group.size() - 1) / group.size();
    in_.resize(size_t(part_ * group.size()));
    out_.resize(in_.size());
    for (size_t i = 0; i < in_.size(); ++i) {
      in_[i] = bf16_bits(input_value(group.rank(), std::int64_t(i)));
    }
  }

  Result<LaunchTime> launch(Step, L2) override {
    TRY(group_.barrier());
    const auto start = Clock::now();
    TRY(run());
    const auto end = Clock::now();
    return LaunchTime{0, std::chrono::duration<double, std::micro>(end - start).count()};
  }

  Result<void> run() {
    const std::int64_t part_bytes = part_ * 2;
    if (name_ == "all_reduce") {
      return group_.all_reduce(in_.data(), out_.data(), std::int64_t(in_.size()));
    }
    if (name_ == "all_gather") return group_.all_gather(in_.data(), out_.data(), part_bytes);
    if (name_ == "all_to_all") return group_.all_to_all(in_.data(), out_.data(), part_bytes);
    if (name_ == "reduce_scatter") {
      return group_.reduce_scatter(in_.data(), out_.data(), part_);
    }
    return fail(ErrorKind::config, "no collective '", name_, "'");
  }

  Result<void> check() const {
    const bool scattered = name_ == "reduce_scatter";
    const std::int64_t count = scattered ? part_ : std::int64_t(out_.size());
    for (std::int64_t i = 0; i < count; ++i) {
      const float got = bf16_value(out_[size_t(i)]);
      if (got == wanted(i)) continue;
      return fail(ErrorKind::mismatch, name_, ": value ", i, " is ", got, ", not ", wanted(i));
    }
    return {};
  }

 private:
  float wanted(std::int64_t i) const {
    const int from = static_cast<int>(i / part_);
    if (name_ == "all_gather") return input_value(from, i % part_);
    if (name_ == "all_to_all") return input_value(from, group_.rank() * part_ + i % part_);
    const std::int64_t index = name_ == "reduce_scatter" ? group_.rank() * part_ + i : i;
    float sum = 0;
    for (int rank = 0; rank < group_.size(); ++rank) sum += input_value(rank, index);
    return bf16_value(bf16_bits(sum));
  }

  std::string name_;
  tp::MeshGroup& group_;
  std::int64_t part_ = 0;  ///< values of one rank
  std::vector<std::uint16_t> in_;
  std::vector<std::uint16_t> out_;
};

}  // namespace

Result<std::unique_ptr<RankSteps>> collective_steps(const std::string& name,
                                                    std::int64_t message_bytes,
                                                    tp::MeshGroup& group) {
  auto steps = std::make_unique<CollectiveSteps>(name, message_bytes, group);
  TRY(steps->run());
  TRY(steps->check());
  return steps;
}

double bus_factor(const std::string& name, int ranks) {
  return (name == "all_reduce" ? 2.0 : 1.0) * (ranks - 1) / ranks;
}

}  // namespace headsplit::agent
