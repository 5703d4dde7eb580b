#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <optional>
#include <string>

#include "coordinator/routes.h"
#include "core/tls.h"

namespace headsplit::coordinator {

/// Where to listen.
struct ListenAddress {
  std::string host;
  std::string port;
};

/// Of "HOST:PORT" or "[IPv6]:PORT".  Fails: config.
Result<ListenAddress> listen_address_from(const std::string& text);

/// The one listening socket.  It takes connections until cancelled, and ends after they have ended.
class Server {
 public:
  /// Binds.  open_to_others: an address that is not loopback is allowed.  tls: everybody who
  /// connects must speak it.
  /// Fails: config (port in use, no such host, an address that is not loopback; one line).
  static Result<Server> listen(const net::any_io_executor& executor, const ListenAddress& address,
                               bool open_to_others, std::optional<Tls> tls = std::nullopt);

  /// "http://127.0.0.1:7077", or https, with the port that was chosen for port 0.
  std::string url() const;

  Task<> serve(Site& site);

 private:
  Server(net::ip::tcp::acceptor acceptor, std::optional<Tls> tls)
      : acceptor_(std::move(acceptor)), tls_(std::move(tls)) {}

  net::ip::tcp::acceptor acceptor_;
  std::optional<Tls> tls_;
};

}  // namespace headsplit::coordinator
