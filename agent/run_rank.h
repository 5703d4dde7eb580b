#pragma once

#include <memory>

#include "agent/device.h"
#include "agent/rank_device.h"
#include "agent/worker.h"
#include "core/ceilings.h"
#include "core/lease.h"
#include "core/row.h"

namespace headsplit::agent {

/// One rank of a gang, start to end: its shard of the point's problem is made and verified, then it
/// says that it is prepared; told to go, it connects to the others, the result of all ranks is
/// compared with the whole problem's reference, and attention and collectives are timed alone, in
/// sequence and overlapped.  Gives the rank's row, with one part.  Blocks; trouble with another
/// rank is a retryable failure that names it.
/// ranks: the worker's way to other ranks, made when it is null; given up when an attempt fails,
/// since what the other ranks then do with the communicators is unknown.
Row run_rank(Device& device, std::unique_ptr<RankDevice>& ranks, const Ceilings& ceilings,
             const Lease& lease, const AwaitGo& await_go);

}  // namespace headsplit::agent
