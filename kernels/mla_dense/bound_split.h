#pragma once

#include <memory>

#include "core/result.h"
#include "kernels/kernel.h"
#include "kernels/problem.h"

namespace headsplit::kernels::dense {

/// A split kernel (split_kernel.h) and the combine kernel behind it, bound to a problem, for which
/// the table of kernels (split_choice.h) has one of that arithmetic.  inputs: what cache and
/// queries are made from, the problem itself, or the one that it is a view of: with the same rows
/// and slots, by other requests and pages. Fails: config (no kernel fits this GPU), cuda (out of
/// memory).
Result<std::unique_ptr<BoundKernel>> bind_split(const Problem& problem, const Problem& inputs,
                                                const BindOptions& options,
                                                Arithmetic arithmetic = Arithmetic::stored);

}  // namespace headsplit::kernels::dense
