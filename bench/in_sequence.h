#pragma once

#include <span>
#include <vector>

#include "core/result.h"
#include "kernels/kernel.h"

namespace headsplit::bench {

/// One launch after the other, as one: a device times it with one clock.  Both outlive it.
class InSequence final : public kernels::BoundKernel {
 public:
  InSequence(kernels::BoundKernel& first, kernels::BoundKernel& second)
      : first_(first), second_(second) {}

  const kernels::Config& config() const override { return second_.config(); }
  Result<void> poison() override {
    TRY(first_.poison());
    return second_.poison();
  }
  Result<void> launch(kernels::Part part) override {
    TRY(first_.launch(part));
    return second_.launch(part);
  }
  Result<std::vector<kernels::OutputRow>> output_rows(std::span<const std::int64_t> rows) override {
    return second_.output_rows(rows);
  }

 private:
  kernels::BoundKernel& first_;
  kernels::BoundKernel& second_;
};

}  // namespace headsplit::bench
