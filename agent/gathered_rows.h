#pragma once

#include "agent/device.h"
#include "kernels/kernel.h"
#include "tp/group/group.h"
#include "tp/group/rank_attention.h"

namespace headsplit::agent {

/// Compares sampled rows of what a gang computed with the fp64 reference of the whole problem.
/// Every rank calls it; rank 0 checks, the others send it what they hold.
/// cp: ranks whose partial rows are merged.
/// Gives the largest error over tolerance on rank 0, 0 elsewhere.  Fails: mismatch, io.
Result<double> verify_gathered(Device& device, const kernels::Problem& whole,
                               const kernels::Problem& shard, int cp, tp::RankAttention& attention,
                               tp::MeshGroup& control);

}  // namespace headsplit::agent
