#pragma once

#include <optional>
#include <vector>

#include "tp/advice.h"

namespace headsplit::tp {

/// Every layout and kernel by step time, those that fit first.
std::vector<Candidate> ranked(const AdviceRequest& request, const TimeModel& times,
                              const CollectiveModel& collectives);

/// Nearest changes, up and down by doublings, after which the fastest layout or kernel that fits is
/// another one than now; and the other cache type when that changes it.
std::vector<Flip> flips(const AdviceRequest& request, const TimeModel& times,
                        const CollectiveModel& collectives);

}  // namespace headsplit::tp
