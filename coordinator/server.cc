#include "coordinator/server.h"

#include <boost/asio/redirect_error.hpp>
#include <charconv>

#include "coordinator/http_session.h"
#include "coordinator/rate.h"
#include "core/log.h"

namespace headsplit::coordinator {
namespace {

using Tcp = net::ip::tcp;
using ErrorCode = boost::system::error_code;

constexpr std::size_t kConnectionsMax = 4096;
constexpr Duration kFullPause = std::chrono::milliseconds(50);
constexpr Duration kHandshakeLimit = std::chrono::seconds(10);
/// New connections; more of them wait in the kernel.
constexpr double kAcceptsPerS = 1000;
constexpr double kAcceptBurst = 2000;

Error cannot_listen(const ListenAddress& address, const std::string& why) {
  return fail(ErrorKind::config, "cannot listen on ", address.host, ":", address.port, ": ", why);
}

Result<Tcp::endpoint> resolved(const net::any_io_executor& executor, const ListenAddress& address) {
  ErrorCode error;
  Tcp::resolver resolver(executor);
  const auto found = resolver.resolve(address.host, address.port, Tcp::resolver::passive, error);
  if (error || found.empty()) return cannot_listen(address, error.message());
  return found.begin()->endpoint();
}

std::string reason_of(const ErrorCode& error) {
  if (error == net::error::address_in_use) return "the port is in use";
  return error.message();
}

/// Shakes hands, and serves what comes out of the tunnel.
Task<> serve_tunnel(Tcp::socket socket, const Tls& tls, Site& site) {
  const net::any_io_executor executor = socket.get_executor();
  auto tunnel = co_await tls.open(std::move(socket), "", kHandshakeLimit);
  if (!tunnel) co_return tunnel.error();
  // A cancellation that comes now must not throw us past the join.
  co_await net::this_coro::throw_if_cancelled(false);
  Nursery nursery(executor);
  nursery.start("", tunnel.value()->carry());
  nursery.start("", serve_connection(tunnel.value()->release_near(), site));
  co_return co_await nursery.join();
}

/// A connection's own trouble ends nobody else.
Task<> isolated(Tcp::socket socket, const std::optional<Tls>& tls, Site& site) {
  ErrorCode ignored;  // the client may be gone
  socket.set_option(Tcp::no_delay(true), ignored);
  Task<> serving = tls ? serve_tunnel(std::move(socket), *tls, site)
                       : serve_connection(Socket(std::move(socket)), site);
  const Result<> served = co_await std::move(serving);
  if (!served) {
    log_line(LogLevel::debug, "coordinator", "connection_ended",
             log_field("reason", served.error().message));
  }
  co_return Result<>();
}

}  // namespace

Result<ListenAddress> listen_address_from(const std::string& text) {
  const auto colon = text.rfind(':');
  const Error wrong =
      fail(ErrorKind::config, "listen address '", text, "': expected HOST:PORT, port 0 to 65535");
  if (colon == std::string::npos) return wrong;
  ListenAddress address{text.substr(0, colon), text.substr(colon + 1)};
  const bool bracketed = address.host.starts_with('[') && address.host.ends_with(']');
  if (bracketed) address.host = address.host.substr(1, address.host.size() - 2);
  if (!bracketed && address.host.find(':') != std::string::npos) return wrong;
  int port = -1;
  const char* end = address.port.data() + address.port.size();
  const auto [stop, error] = std::from_chars(address.port.data(), end, port);
  if (error != std::errc() || stop != end || port < 0 || port > 65535) return wrong;
  if (address.host.empty()) return wrong;
  return address;
}

Result<Server> Server::listen(const net::any_io_executor& executor, const ListenAddress& address,
                              bool open_to_others, std::optional<Tls> tls) {
  const Tcp::endpoint endpoint = TRY(resolved(executor, address));
  if (!endpoint.address().is_loopback() && !open_to_others) {
    return cannot_listen(address,
                         "others can reach it, so a token (--token-file) or certificates of "
                         "clients (--tls-client-ca) are needed");
  }
  Tcp::acceptor acceptor(executor);
  ErrorCode error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(Tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(net::socket_base::max_listen_connections, error);
  if (error) return cannot_listen(address, reason_of(error));
  return Server(std::move(acceptor), std::move(tls));
}

std::string Server::url() const {
  const Tcp::endpoint endpoint = acceptor_.local_endpoint();
  const std::string host = endpoint.address().to_string();
  return str(tls_ ? "https://" : "http://", endpoint.address().is_v6() ? "[" + host + "]" : host,
             ":", endpoint.port());
}

Task<> Server::serve(Site& site) {
  Nursery connections(acceptor_.get_executor());
  Allowance accepts(kAcceptsPerS, kAcceptBurst);
  while (true) {
    ErrorCode error;
    Tcp::socket socket(acceptor_.get_executor());
    const bool full =
        connections.running() >= kConnectionsMax || !accepts.take(std::chrono::steady_clock::now());
    if (!full) {
      co_await acceptor_.async_accept(socket, net::redirect_error(net::use_awaitable, error));
    }
    const bool cancelled = error == net::error::operation_aborted;
    if (cancelled) break;
    if (full || error) {
      // Out of descriptors, or a client that went away: neither is the end of the server.
      if (error)
        log_line(LogLevel::warn, "coordinator", "accept", log_field("reason", error.message()));
      co_await sleep_for(kFullPause);
      continue;
    }
    connections.start("", isolated(std::move(socket), tls_, site));
  }
  connections.cancel();
  co_return co_await connections.join();
}

}  // namespace headsplit::coordinator
