#pragma once

#include <optional>
#include <string>

#include "coordinator/http.h"
#include "coordinator/service.h"
#include "core/async.h"

namespace headsplit::coordinator {

/// What the routes work on.
struct Site {
  Service& service;
  net::thread_pool& pool;     ///< for what blocks: reading the database, expanding a plan
  std::string database;       ///< path, for readers
  std::string token;          ///< clients must send it; empty = none, and then all are on loopback
  std::string own_name = "";  ///< what --listen calls this machine
  bool mutual_tls = false;    ///< who connects has shown a certificate that we trust
};

/// The answer to a request that may not pass; nothing when it may.  With a token everything needs
/// it but /healthz and the files of the page.  Without one, the pages of strangers are kept away.
std::optional<Response> refusal_of(const Request& request, const Site& site);

/// The answer to a request.  Every failure is an answer too: {"error": "one line"}.
net::awaitable<Response> handle(Request request, Site& site);

}  // namespace headsplit::coordinator
