#pragma once

#include "coordinator/routes.h"
#include "core/tls.h"

namespace headsplit::coordinator {

/// Serves one connection: HTTP requests one after the other, or an agent's WebSocket at /agent.
/// Head, body and time of a request are limited.  Fails: io, timeout (the client went or slept).
Task<> serve_connection(Socket socket, Site& site);

}  // namespace headsplit::coordinator
