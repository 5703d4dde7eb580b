#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include "coordinator/service.h"
#include "core/tls.h"

namespace headsplit::coordinator {

using HttpRequest = boost::beast::http::request<boost::beast::http::string_body>;

/// Serves one agent over a WebSocket, from its upgrade request to its end.  Fails: io (lost),
/// protocol (it says what it must not), config (refused).
Task<> serve_agent(Socket socket, HttpRequest upgrade, Service& service);

}  // namespace headsplit::coordinator
