#pragma once

#include "kernels/dsa_indexer/reference.h"
#include "kernels/kernel.h"

namespace headsplit::kernels::indexer {

/// A bound indexer: its output rows are judged_row of what a launch made.
class IndexerKernel : public BoundKernel {
 public:
  explicit IndexerKernel(const Problem& problem) : problem_(problem) {}

  const Config& config() const final { return config_; }
  Result<std::vector<OutputRow>> output_rows(std::span<const std::int64_t> rows) final;

  /// What the last launch made of a row (waits for it).  row: 0..problem.rows() - 1.
  virtual Result<RowResult> row_result(std::int64_t row) = 0;
  /// How long the list of a row is, as the last launch says.
  virtual Result<std::int32_t> chosen_count(std::int64_t row) = 0;

 protected:
  Problem problem_;
  Config config_;
};

/// Shapes that all indexers take.  Fails: config.
Result<void> check_indexer_shape(const RankProblem& shape);

}  // namespace headsplit::kernels::indexer
