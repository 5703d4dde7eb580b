#pragma once

#include <span>

#include "core/row.h"

namespace headsplit::coordinator {

/// The one row of a gang from the rows of its ranks, by rank.  Identity, configuration and counters
/// are rank 0's; attention, collectives and error are those of the slowest or worst rank; `parts`
/// has all ranks.  `time_us` is left as the ranks agreed on it: of the slowest in each launch.
Row gang_row(std::span<const Row> ranks);

}  // namespace headsplit::coordinator
