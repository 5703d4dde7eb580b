#pragma once

#include <boost/asio/ip/tcp.hpp>

#include "coordinator/routes.h"
#include "core/async.h"

namespace headsplit::coordinator {

/// Answers GET /api/events on this connection until the client goes: see PageEvents.
/// Fails: io, timeout (the client went, or takes nothing any more).
Task<> serve_events(net::ip::tcp::socket socket, Site& site);

}  // namespace headsplit::coordinator
