#pragma once

#include <span>
#include <vector>

#include "core/result.h"
#include "kernels/problem.h"
#include "kernels/reference.h"

namespace headsplit::kernels {

/// Attention of output rows in fp64, each over the slots of its query token's list that count, on
/// the inputs as stored.  On all processors; never fails.
Result<std::vector<ReferenceRow>> mla_sparse_reference_rows(const Problem& problem,
                                                            std::span<const std::int64_t> rows);

/// Multiplies the values with exp(lse) / (exp(lse) + exp(sink)) where the problem has sinks.
/// row: whose it is.
void apply_sink(const Problem& problem, std::int64_t row, ReferenceRow& found);

}  // namespace headsplit::kernels
