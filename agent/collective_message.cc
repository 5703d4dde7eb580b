#include "agent/collective_message.h"

#include <algorithm>

#include "kernels/bf16.h"

namespace headsplit::agent {
namespace {

using kernels::bf16_bits;
using kernels::bf16_value;
using std::size_t;

/// Sums of these over as many as 64 ranks are whole numbers that bf16 holds.
float input_value(int rank, std::int64_t index) { return static_cast<float>((rank + index) % 5); }

}  // namespace

CollectiveMessage::CollectiveMessage(std::string name, std::int64_t bytes, int rank, int ranks)
    : name_(std::move(name)), rank_(rank), ranks_(ranks) {
  const std::int64_t values = std::max<std::int64_t>(1, bytes / 2);
  part_ = (values + ranks - 1) / ranks;
}

std::vector<std::uint16_t> CollectiveMessage::input() const {
  std::vector<std::uint16_t> values(static_cast<size_t>(part_ * ranks_));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = bf16_bits(input_value(rank_, std::int64_t(i)));
  }
  return values;
}

Result<void> CollectiveMessage::run(tp::Group& group, const std::uint16_t* in,
                                    std::uint16_t* out) const {
  const std::int64_t part_bytes = part_ * std::int64_t(sizeof(std::uint16_t));
  if (name_ == "all_reduce") return group.all_reduce(in, out, part_ * ranks_);
  if (name_ == "all_gather") return group.all_gather(in, out, part_bytes);
  if (name_ == "all_to_all") return group.all_to_all(in, out, part_bytes);
  if (name_ == "reduce_scatter") return group.reduce_scatter(in, out, part_);
  return fail(ErrorKind::config, "no collective '", name_, "'");
}

Result<void> CollectiveMessage::check(const std::vector<std::uint16_t>& output) const {
  const std::int64_t count = name_ == "reduce_scatter" ? part_ : part_ * ranks_;
  for (std::int64_t i = 0; i < count; ++i) {
    const float got = bf16_value(output[size_t(i)]);
    if (got == wanted(i)) continue;
    return fail(ErrorKind::mismatch, name_, ": value ", i, " is ", got, ", not ", wanted(i));
  }
  return {};
}

float CollectiveMessage::wanted(std::int64_t i) const {
  const int from = static_cast<int>(i / part_);
  if (name_ == "all_gather") return input_value(from, i % part_);
  if (name_ == "all_to_all") return input_value(from, rank_ * part_ + i % part_);
  const std::int64_t index = name_ == "reduce_scatter" ? rank_ * part_ + i : i;
  float sum = 0;
  for (int rank = 0; rank < ranks_; ++rank) sum += input_value(rank, index);
  return sum;
}

double CollectiveMessage::bus_factor() const {
  return (name_ == "all_reduce" ? 2.0 : 1.0) * (ranks_ - 1) / ranks_;
}

}  // namespace headsplit::agent
