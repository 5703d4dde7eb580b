#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "core/result.h"

namespace headsplit::coordinator {

/// An HTTP request, taken apart; no sockets, no Beast.
struct Request {
  std::string method;
  std::string path;                          ///< decoded, without the query
  std::map<std::string, std::string> query;  ///< decoded; the last of equal names
  std::string body;
  std::string authorization;  ///< the header, or empty
  std::string accept;         ///< the header, or empty
  std::string host;           ///< the header, or empty
  std::string origin;         ///< the header, or empty
  std::string if_none_match;  ///< the header, or empty
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::string allow;                                         ///< with 405: the methods there are
  std::vector<std::pair<std::string, std::string>> headers;  ///< beside those of every answer

  bool operator==(const Response&) const = default;
};

/// target: as on the request line ("/api/sweeps?filename=a%20b").  Fails: protocol.
Result<Request> request_from(const std::string& method, const std::string& target);

Response json_response(int status, const json::value& body);

/// {"error": "one line"}.
Response error_response(int status, const std::string& message);

}  // namespace headsplit::coordinator
