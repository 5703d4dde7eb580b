#pragma once

#include "coordinator/metrics/exposition.h"
#include "coordinator/metrics/metrics_input.h"

namespace headsplit::coordinator {

/// All series of one scrape.  A pure function: the same input, the same series.  What matters to
/// everyone comes first (sweeps, queue, store), then layouts, then agents one by one, so that a cap
/// on series takes the last agents' first.
Exposition expose(const MetricsInput& input);

}  // namespace headsplit::coordinator
