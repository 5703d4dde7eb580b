#pragma once

#include <string>
#include <vector>

#include "core/json.h"

/// Answers of GET /sd, in the form of Prometheus' HTTP service discovery: the whole list each time,
/// [] when there is nothing.  Source: prometheus/docs, http_sd.md.
namespace headsplit::coordinator {

/// The coordinator itself, which exports everything there is of agents too.  host: as the caller
/// addressed it (its Host header); [] when that is no host with an optional port.
json::array coordinator_targets(const std::string& host);

/// nodes: of connected agents, in any order.  Each once, with `port`: for exporters that run beside
/// agents. Agents themselves listen on nothing.
json::array node_targets(const std::vector<std::string>& nodes, int port);

}  // namespace headsplit::coordinator
