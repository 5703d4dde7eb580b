#pragma once

#include <span>

#include "coordinator/route.h"

namespace headsplit::coordinator {

/// What Prometheus asks for: GET /metrics, and GET /sd for its HTTP service discovery.
/// /sd: this coordinator; /sd?port=N: the nodes of connected agents with that port.
std::span<const Route> scrape_routes();

}  // namespace headsplit::coordinator
