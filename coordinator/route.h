#pragma once

#include <optional>
#include <string>

#include "coordinator/http.h"
#include "coordinator/routes.h"
#include "core/async.h"

namespace headsplit::coordinator {

/// A request on its way through a table of routes; `id` is what stood for {id}.
struct Call {
  Request request;
  std::string id;
  Site& site;
};

using Answer = net::awaitable<Response>;

struct Route {
  const char* method;
  const char* path;  ///< {id} stands for one segment
  Answer (*answer)(Call&);
};

/// A parameter of the query; empty when it is not there.
std::string parameter(const Request& request, const std::string& name);

/// 404 for a sweep that nobody knows.
Response no_such_sweep(const std::string& id);

}  // namespace headsplit::coordinator
