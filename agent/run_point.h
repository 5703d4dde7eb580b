#pragma once

#include "agent/device.h"
#include "core/lease.h"
#include "core/row.h"

namespace headsplit::agent {

/// The measuring protocol, start to end: prepare, verify, warm up, time, count, summarise
/// (design.md section 7).  Always gives a row: what cannot run is `skipped`, what goes wrong is
/// `failed`, each with the reason.  Blocks; one thread; no coroutine crosses it.
Row run_point(Device& device, const Lease& lease);

}  // namespace headsplit::agent
