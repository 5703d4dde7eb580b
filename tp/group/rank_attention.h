#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/gang.h"
#include "core/layout.h"
#include "kernels/kernel.h"
#include "tp/group/group.h"

namespace headsplit::tp {

/// Which rows of the whole problem a rank ends up with.  The ranks of a context-parallel group hold
/// partial outputs of the same rows; merging leaves each with a run of `rows_a_rank` of them.
struct MergedRows {
  std::int64_t rows = 0;         ///< of the rank's shard
  std::int64_t rows_a_rank = 0;  ///< rows over the group, rounded up
  std::int64_t begin = 0;        ///< first of this rank's, in the shard
  std::int64_t count = 0;        ///< of this rank's; the last rank may have fewer, or none
};
MergedRows merged_rows(const kernels::Problem& shard, int cp, int cp_index);

/// Largest difference of sums from the exact sums of their inputs, in units of what bf16 loses when
/// each of the sums is rounded.  inputs: [ranks, count] bf16; sums: [count] bf16.
double worst_sum(std::span<const std::uint16_t> inputs, std::span<const std::uint16_t> sums,
                 std::size_t ranks);

/// A kernel that has no output to show cannot be one of a gang.
Error no_output();

/// What the ranks of one layout communicate for one layer: the queries gathered and the partial
/// outputs merged among those that share a context, the output projection summed up among all that
/// share requests.  A rank's attention is its kernel's launch before.
class RankAttention {
 public:
  virtual ~RankAttention() = default;

  /// All of it, or nothing where the layout has nothing to communicate.  Host: returns when done.
  virtual Result<void> communicate() = 0;
  /// Outputs of this rank's merged rows after the last `communicate`, in fp32 (waits for it).
  /// rows: in the shard, from `merged().begin` on.
  virtual Result<std::vector<kernels::OutputRow>> output_rows(
      std::span<const std::int64_t> rows) = 0;
  /// Fills the all-reduce's input from this rank's merged rows, by a projection that stands in for
  /// the model's: y[token][k] = sum over the rank's heads of out[token][head][k mod d_latent].
  virtual Result<void> project() = 0;
  /// Largest difference between the all-reduce's output and the sum of all ranks' inputs, in units
  /// of what bf16 sums may lose.  At most 1 passes; 0 where nothing is summed up.
  virtual Result<double> projection_error() = 0;

  const MergedRows& merged() const { return merged_; }

 protected:
  explicit RankAttention(const MergedRows& merged) : merged_(merged) {}

 private:
  MergedRows merged_;
};

/// The groups of one rank; a group of one is null.
struct RankGroups {
  Group* context = nullptr;
  Group* requests = nullptr;
};

/// On the host, over the output of a bound CPU kernel.
/// kernel: bound to `shard`, with an output to show; it and the groups outlive the result.
/// hidden: width of the all-reduced tokens; 0 = there is none.
/// Fails: config (the kernel shows no output).
Result<std::unique_ptr<RankAttention>> host_rank_attention(const kernels::BoundKernel& kernel,
                                                           const kernels::Problem& shard,
                                                           const RankGroups& groups, Merge merge,
                                                           int hidden);

}  // namespace headsplit::tp
