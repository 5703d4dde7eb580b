#include "coordinator/http.h"

#include <boost/url.hpp>

namespace headsplit::coordinator {

Result<Request> request_from(const std::string& method, const std::string& target) {
  const auto parsed = boost::urls::parse_origin_form(target);
  if (!parsed) return fail(ErrorKind::protocol, "the request target is no path");
  Request request{.method = method, .path = parsed->path()};
  for (const auto& parameter : parsed->params()) {
    request.query[std::string(parameter.key)] = parameter.value;
  }
  return request;
}

Response json_response(int status, const json::value& body) {
  return {.status = status, .body = json::serialize(body) + "\n"};
}

Response error_response(int status, const std::string& message) {
  return json_response(status, json::object{{"error", message}});
}

}  // namespace headsplit::coordinator
