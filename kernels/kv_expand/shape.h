#pragma once

#include "core/rank_problem.h"
#include "core/result.h"

namespace headsplit::kernels {

/// What kv_expand asks of a problem on both backends: its family, a bf16 cache, as many KV heads as
/// local heads, positive sizes.  Fails: config.
Result<void> check_kv_expand_shape(const RankProblem& shape);

}  // namespace headsplit::kernels
