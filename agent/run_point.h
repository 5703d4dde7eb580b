#pragma once

#include "agent/device.h"
#include "core/ceilings.h"
#include "core/lease.h"
#include "core/row.h"

namespace headsplit::agent {

/// The measuring protocol, start to end: prepare, verify, warm up, time, count, summarise
/// (design.md section 7).  Always gives a row: what cannot run is `skipped`, what goes wrong is
/// `failed`, each with the reason.  Blocks; one thread; no coroutine crosses it.
/// ceilings: of this device; absent ones leave the figures that rest on them absent.
Row run_point(Device& device, const Ceilings& ceilings, const Lease& lease);

}  // namespace headsplit::agent
