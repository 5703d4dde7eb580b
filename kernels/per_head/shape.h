#pragma once

#include <string>

#include "core/rank_problem.h"
#include "core/result.h"

namespace headsplit::kernels {

/// Head dims that the per_head kernels take, keys and values each: multiples of kPerHeadDimStep.
constexpr int kPerHeadDimMin = 64;
constexpr int kPerHeadDimMax = 256;
constexpr int kPerHeadDimStep = 16;

/// What every kernel of the per_head family asks of a problem: its family, KV heads that divide the
/// local heads, head dims as above, positive sizes.  kernel: for the message.  Fails: config.
Result<void> check_per_head_shape(const std::string& kernel, const RankProblem& shape);

}  // namespace headsplit::kernels
