#pragma once

#include <string>

#include "core/json.h"
#include "core/result.h"
#include "core/tls.h"

namespace headsplit::cli {

/// A coordinator as a client sees it.
struct Server {
  std::string url;    ///< http://HOST:PORT or https://HOST:PORT
  std::string token;  ///< sent as a bearer token when not empty
  TlsFiles tls;       ///< for https
};

struct HttpReply {
  int status = 0;
  std::string body;
};

/// One blocking request over a connection of its own, at most 10 s.
/// Fails: io (nobody listens, connection broke, no answer in time; names the URL).
Result<HttpReply> http(const Server& server, const std::string& method, const std::string& target,
                       const std::string& body = "");

/// The same, for routes that answer JSON.  Fails: also with the coordinator's own error line.
Result<json::value> http_json(const Server& server, const std::string& method,
                              const std::string& target, const std::string& body = "");

/// Text made safe for a query parameter.
std::string url_encoded(const std::string& text);

}  // namespace headsplit::cli
