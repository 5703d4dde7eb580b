#pragma once

#include <string>
#include <vector>

#include "agent/device.h"
#include "agent/rank_steps.h"
#include "core/lease.h"
#include "core/row.h"
#include "tp/group/group.h"

namespace headsplit::agent {

/// Launches of one step; all in launch order.
struct TimedStep {
  std::vector<double> own_us;      ///< of this rank
  std::vector<double> slowest_us;  ///< of the slowest rank in each launch: the same on all ranks
  std::vector<double> skew_us;     ///< between the first rank to reach its collectives and the last
  double spent_us = 0;
  std::string stop_reason;
};

/// Launches a step until its times are as steady as the lease wants; all ranks stop together.
/// control: all ranks of the gang, on the host.
Result<TimedStep> time_until_steady(RankSteps& steps, Step step, const Lease& lease,
                                    tp::MeshGroup& control);

/// A few launches of a step.
Result<TimedStep> time_launches(RankSteps& steps, Step step, const Lease& lease, int launches,
                                tp::MeshGroup& control);

/// Times every step and fills the row: time and samples from attention and collectives in sequence,
/// the rest in the row's part and its skew.
Result<void> time_rank(Device& device, RankSteps& steps, const Lease& lease, tp::MeshGroup& control,
                       Row& row);

/// Fills time, spread and samples of a row.
void note_times(const TimedStep& timed, Row& row);

}  // namespace headsplit::agent
