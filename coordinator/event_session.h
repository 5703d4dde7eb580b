#pragma once

#include "coordinator/routes.h"
#include "core/tls.h"

namespace headsplit::coordinator {

/// Answers GET /api/events on this connection until the client goes: see PageEvents.
/// Fails: io, timeout (the client went, or takes nothing any more).
Task<> serve_events(Socket socket, Site& site);

}  // namespace headsplit::coordinator
