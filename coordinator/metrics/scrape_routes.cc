#include "coordinator/metrics/scrape_routes.h"

#include <array>
#include <charconv>

#include "coordinator/metrics/discovery.h"

namespace headsplit::coordinator {
namespace {

Answer metrics(Call& call) {
  MetricsReply reply = call.site.service.metrics(call.request.accept);
  Response response;
  response.content_type = std::move(reply.content_type);
  response.body = std::move(reply.body);
  co_return response;
}

Result<int> port_from(const std::string& text) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port < 1 || port > 65535) {
    return fail(ErrorKind::config, "port='", text, "': expected a number from 1 to 65535");
  }
  return port;
}

Answer discovery(Call& call) {
  if (!call.request.query.contains("port")) {
    co_return json_response(200, coordinator_targets(call.request.host));
  }
  const Result<int> port = port_from(parameter(call.request, "port"));
  if (!port) co_return error_response(400, port.error().message);
  std::vector<std::string> nodes;
  for (const AgentStatus& agent : call.site.service.agents()) nodes.push_back(agent.agent.node);
  co_return json_response(200, node_targets(nodes, port.value()));
}

constexpr std::array kRoutes = {
    Route{"GET", "/metrics", metrics},
    Route{"GET", "/sd", discovery},
};

}  // namespace

std::span<const Route> scrape_routes() { return kRoutes; }

}  // namespace headsplit::coordinator
