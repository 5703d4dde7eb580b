#pragma once

#include <cstdint>
#include <string>

#include "coordinator/plan.h"
#include "core/row.h"

namespace headsplit::coordinator {

/// The row of a point that no agent reported: skipped, cancelled, or out of attempts.
/// epoch: above every epoch granted, so that no report can pass for it; 0 when none was.
Row coordinator_row(const Plan& plan, const PlannedPoint& planned, Status status,
                    std::string reason, std::int64_t epoch);

/// Why a reported row cannot be the outcome of this point; empty when it can.
std::string mismatch_of(const Row& row, const PlannedPoint& planned);

}  // namespace headsplit::coordinator
