#pragma once

#include <string>

#include "coordinator/http.h"
#include "coordinator/service.h"
#include "core/async.h"

namespace headsplit::coordinator {

/// What the routes work on.
struct Site {
  Service& service;
  net::thread_pool& pool;  ///< for what blocks: reading the database, expanding a plan
  std::string database;    ///< path, for readers
  std::string token;       ///< clients must send it; empty = none
};

/// Whether a request may pass: with a token, everything but /healthz needs it.
bool authorised(const Request& request, const std::string& token);

/// The answer to a request.  Every failure is an answer too: {"error": "one line"}.
net::awaitable<Response> handle(Request request, Site& site);

}  // namespace headsplit::coordinator
