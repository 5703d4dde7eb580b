#include "agent/link.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/url.hpp>

#include "core/version.h"

namespace headsplit::agent {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;
using Tcp = net::ip::tcp;

constexpr Duration kConnectLimit = std::chrono::seconds(5);
constexpr std::size_t kMessageBytesMax = 1u << 20;

}  // namespace

struct Link::Stream {
  Stream(Socket socket, std::string its_address)
      : local_address(std::move(its_address)),
        tunnels(socket.get_executor()),
        websocket(std::move(socket)) {}

  /// The connection as it is, or the near end of a tunnel over it.
  static Task<std::unique_ptr<Stream>> over(Tcp::socket socket, CoordinatorAddress address,
                                            TlsFiles files);

  std::string local_address;
  Nursery tunnels;  ///< of TLS: at most one, that ends after the near end is closed
  websocket::stream<Socket> websocket;
  beast::flat_buffer received;
};

namespace {

Task<Tcp::socket> reach(CoordinatorAddress address) {
  Tcp::socket socket(co_await net::this_coro::executor);
  Tcp::resolver resolver(socket.get_executor());
  const auto endpoints =
      co_await resolver.async_resolve(address.host, address.port, net::use_awaitable);
  co_await net::async_connect(socket, endpoints, net::use_awaitable);
  socket.set_option(Tcp::no_delay(true));
  co_return socket;
}

std::string own_address(const Tcp::socket& socket) {
  boost::system::error_code error;
  const auto endpoint = socket.local_endpoint(error);
  return error ? "127.0.0.1" : endpoint.address().to_string();
}

void prepare(websocket::stream<Socket>& stream, const std::string& token) {
  stream.set_option(websocket::stream_base::timeout{.handshake_timeout = std::chrono::seconds(5),
                                                    .idle_timeout = std::chrono::seconds(30),
                                                    .keep_alive_pings = true});
  stream.set_option(websocket::stream_base::decorator([token](websocket::request_type& request) {
    request.set(http::field::user_agent, "headsplit-agent/" + version());
    if (!token.empty()) request.set(http::field::authorization, "Bearer " + token);
  }));
  stream.read_message_max(kMessageBytesMax);
  stream.text(true);
}

Task<> shake_hands(websocket::stream<Socket>& stream, const CoordinatorAddress& address) {
  websocket::response_type response;
  boost::system::error_code error;
  co_await stream.async_handshake(response, address.text(), "/agent",
                                  net::redirect_error(net::use_awaitable, error));
  if (!error) co_return Result<>();
  if (error != websocket::error::upgrade_declined) co_return fail(ErrorKind::io, error.message());
  const unsigned status = response.result_int();
  if (status == 401) co_return fail(ErrorKind::config, "the coordinator wants another token");
  if (status == 403) {
    co_return fail(ErrorKind::config, "the coordinator is not called ", address.text(),
                   ": use the address that it printed");
  }
  const auto kind = status >= 500 ? ErrorKind::io : ErrorKind::config;
  co_return fail(kind, "the coordinator answered HTTP ", status, " to /agent");
}

}  // namespace

Result<CoordinatorAddress> address_from(const std::string& url) {
  const auto parsed = boost::urls::parse_uri(url);
  const bool tls = parsed && parsed->scheme() == "https";
  const bool plain = parsed && (tls || parsed->scheme() == "http") && !parsed->host().empty() &&
                     (parsed->path().empty() || parsed->path() == "/") && !parsed->has_query();
  if (!plain) {
    return fail(ErrorKind::config, "coordinator URL '", url,
                "': expected http://HOST:PORT or https://HOST:PORT");
  }
  return CoordinatorAddress{parsed->host_address(),
                            parsed->has_port() ? std::string(parsed->port()) : "7077", tls};
}

Task<std::unique_ptr<Link::Stream>> Link::Stream::over(Tcp::socket socket,
                                                       CoordinatorAddress address, TlsFiles files) {
  const std::string local_address = own_address(socket);
  if (!address.tls) {
    co_return std::make_unique<Stream>(Socket(std::move(socket)), local_address);
  }
  const Result<Tls> tls = Tls::client(files);
  if (!tls) co_return tls.error();
  auto tunnel = co_await tls->open(std::move(socket), address.host, kConnectLimit);
  if (!tunnel) co_return tunnel.error();
  auto stream = std::make_unique<Stream>(tunnel.value()->release_near(), local_address);
  stream->tunnels.start("", tunnel.value()->carry());
  co_return stream;
}

Link::Link(std::unique_ptr<Stream> stream) : stream_(std::move(stream)) {}

Link::~Link() = default;

Task<std::unique_ptr<Link>> Link::connect(CoordinatorAddress address, std::string token,
                                          TlsFiles files) {
  Task<Tcp::socket> reaching = reach(address);
  Result<Tcp::socket> reached = co_await within(kConnectLimit, std::move(reaching));
  if (!reached) co_return within_context(address.text(), reached.error());
  Task<std::unique_ptr<Stream>> entering =
      Stream::over(std::move(reached).value(), address, std::move(files));
  Result<std::unique_ptr<Stream>> entered = co_await std::move(entering);
  if (!entered) co_return within_context(address.text(), entered.error());
  std::unique_ptr<Stream> stream = std::move(entered).value();
  prepare(stream->websocket, token);
  Task<> shaking = shake_hands(stream->websocket, address);
  const Result<> shaken = co_await within(kConnectLimit, std::move(shaking));
  if (!shaken) co_return within_context(address.text(), shaken.error());
  co_return std::unique_ptr<Link>(new Link(std::move(stream)));
}

std::string Link::local_address() const { return stream_->local_address; }

Task<std::string> Link::receive() {
  boost::system::error_code error;
  stream_->received.clear();
  co_await stream_->websocket.async_read(stream_->received,
                                         net::redirect_error(net::use_awaitable, error));
  if (error == websocket::error::closed) {
    const std::string reason(stream_->websocket.reason().reason.c_str());
    co_return fail(ErrorKind::io, "closed by the coordinator", reason.empty() ? "" : ": ", reason);
  }
  if (error) throw boost::system::system_error(error);
  if (!stream_->websocket.got_text()) co_return fail(ErrorKind::protocol, "a binary message");
  co_return beast::buffers_to_string(stream_->received.data());
}

Task<> Link::send(std::string text) {
  co_await stream_->websocket.async_write(net::buffer(text), net::use_awaitable);
  co_return Result<>();
}

Task<> Link::close() {
  const websocket::close_reason reason(websocket::close_code::going_away);
  co_await stream_->websocket.async_close(reason, net::use_awaitable);
  co_return Result<>();
}

}  // namespace headsplit::agent
