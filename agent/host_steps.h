#pragma once

#include <memory>

#include "agent/device.h"
#include "agent/rank_steps.h"
#include "tp/group/group.h"
#include "tp/group/rank_attention.h"

namespace headsplit::agent {

/// Steps of a CPU rank: a launch of its kernel, its collectives, timed by the steady clock after a
/// barrier.  All outlive the result.
std::unique_ptr<RankSteps> host_steps(Device& device, kernels::BoundKernel& kernel,
                                      tp::RankAttention& attention, tp::MeshGroup& control);

}  // namespace headsplit::agent
