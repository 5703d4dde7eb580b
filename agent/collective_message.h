#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "tp/group/group.h"

namespace headsplit::agent {

/// What a collective of the suite moves: all_reduce, all_gather, reduce_scatter or all_to_all.
/// Its inputs are whole numbers whose sums are exact in bf16.
class CollectiveMessage {
 public:
  /// bytes: the buffer that is reduced, everything gathered, or a rank's whole input; rounded up to
  /// an even share of each rank.
  CollectiveMessage(std::string name, std::int64_t bytes, int rank, int ranks);

  /// [ranks x part] bf16: what this rank puts in.
  std::vector<std::uint16_t> input() const;
  /// Fails: mismatch (says which value).  output: of `run`, as long as the input.
  Result<void> check(const std::vector<std::uint16_t>& output) const;
  /// Fails: config (no such collective).
  Result<void> run(tp::Group& group, const std::uint16_t* in, std::uint16_t* out) const;

  /// Bytes over what a rank's link carries for them: 2 (n - 1) / n for an all-reduce, (n - 1) / n
  /// for the others.  Source: NVIDIA/nccl-tests, doc/PERFORMANCE.md.
  double bus_factor() const;

 private:
  float wanted(std::int64_t index) const;

  std::string name_;
  int rank_ = 0;
  int ranks_ = 1;
  std::int64_t part_ = 0;  ///< values of one rank
};

}  // namespace headsplit::agent
