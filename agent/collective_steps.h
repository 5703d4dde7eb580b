#pragma once

#include <memory>
#include <string>

#include "agent/rank_steps.h"
#include "tp/group/group.h"

namespace headsplit::agent {

/// A collective of the suite on host memory, as a step: all_reduce, all_gather, reduce_scatter or
/// all_to_all.  message_bytes: the buffer that is reduced, everything gathered, or a rank's whole
/// input; rounded up to an even share of each rank.
/// The result is checked with exactly representable inputs before.
/// Fails: config (no such collective), mismatch.
Result<std::unique_ptr<RankSteps>> collective_steps(const std::string& name,
                                                    std::int64_t message_bytes,
                                                    tp::MeshGroup& group);

/// Bytes over what a rank's link carries for them: 2 (n - 1) / n for an all-reduce, (n - 1) / n for
/// the others.  Source: NVIDIA/nccl-tests, doc/PERFORMANCE.md.
double bus_factor(const std::string& name, int ranks);

}  // namespace headsplit::agent
