#pragma once

#include "agent/device.h"
#include "agent/problem_memory.h"
#include "core/ceilings.h"
#include "core/lease.h"
#include "core/row.h"

namespace headsplit::agent {

/// The measuring protocol (docs/measuring.md), whole: bind with random inputs, poison, launch,
/// compare with the fp64 reference, sample times until the stopping rule says so, poison and
/// compare once more, time the parts apart, count, derive.  ceilings: of this device.  memory: of
/// this worker's earlier points.  Never fails: what goes wrong becomes the row's status and reason
/// (`skipped` when this build or device cannot run the point, else `failed`).
Row run_point(Device& device, const Ceilings& ceilings, const Lease& lease, ProblemMemory& memory);

}  // namespace headsplit::agent
