#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/result.h"
#include "kernels/problem.h"

namespace headsplit::kernels {

/// One output row in fp64, straight from the equation, on the inputs as stored.
struct ReferenceRow {
  std::vector<double> values;  ///< [shape.output_width()]
  double lse = 0;              ///< attention: natural logarithm; kv_expand: 0
};

/// The reference of the given output rows of a problem, in order: on the CPU (below) or on a GPU.
using ReferenceRows = std::function<Result<std::vector<ReferenceRow>>(
    const Problem& problem, std::span<const std::int64_t> rows)>;

/// The same on all processors of this machine, by the family of the problem.  Never fails.
Result<std::vector<ReferenceRow>> reference_rows(const Problem& problem,
                                                 std::span<const std::int64_t> rows);

/// Tokens that a query row attends to, as fp32 rows: key j is at keys + j x key_stride.
struct ReferenceTokens {
  const float* keys = nullptr;
  std::size_t key_stride = 0;
  const float* values = nullptr;
  std::size_t value_stride = 0;
  std::size_t count = 0;
};

/// s_j = scale x sum_d q_d k_jd,  p = softmax(s),  out_d = sum_j p_j v_jd,  lse = log sum_j
/// exp(s_j); 0 and -infinity where there are no tokens.
ReferenceRow reference_attention(std::span<const double> query, const ReferenceTokens& tokens,
                                 double scale, std::size_t width);

}  // namespace headsplit::kernels
