#include "coordinator/origin.h"

#include <boost/algorithm/string/predicate.hpp>
#include <boost/asio/ip/address.hpp>

namespace headsplit::coordinator {
namespace {

/// Of a Host header: "[::1]:80" gives "::1", "localhost:80" gives "localhost".
std::string host_name(const std::string& host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.rfind(':'));
}

bool is_loopback(const std::string& name) {
  if (boost::iequals(name, "localhost")) return true;
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(name, error);
  return !error && address.is_loopback();
}

bool only_reads(const Request& request) {
  return (request.method == "GET" || request.method == "HEAD") && request.path != "/agent";
}

}  // namespace

bool from_foreign_page(const Request& request) {
  if (request.origin.empty() || only_reads(request)) return false;
  return !boost::iequals(request.origin, "http://" + request.host) &&
         !boost::iequals(request.origin, "https://" + request.host);
}

bool names_this_machine(const Request& request, const std::string& own_name) {
  if (request.host.empty()) return true;  // no browser: they all name it
  const std::string name = host_name(request.host);
  return is_loopback(name) || (!own_name.empty() && boost::iequals(name, own_name));
}

}  // namespace headsplit::coordinator
