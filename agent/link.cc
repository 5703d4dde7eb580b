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
  explicit Stream(const net::any_io_executor& executor) : websocket(executor) {}

  websocket::stream<Tcp::socket> websocket;
  beast::flat_buffer received;
};

namespace {

Task<> reach(Tcp::socket& socket, const CoordinatorAddress& address) {
  Tcp::resolver resolver(socket.get_executor());
  const auto endpoints =
      co_await resolver.async_resolve(address.host, address.port, net::use_awaitable);
  co_await net::async_connect(socket, endpoints, net::use_awaitable);
  socket.set_option(Tcp::no_delay(true));
  co_return Result<>();
}

void prepare(websocket::stream<Tcp::socket>& stream, const std::string& token) {
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

Task<> shake_hands(websocket::stream<Tcp::socket>& stream, const CoordinatorAddress& address) {
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
  const bool plain = parsed && parsed->scheme() == "http" && !parsed->host().empty() &&
                     (parsed->path().empty() || parsed->path() == "/") && !parsed->has_query();
  if (!plain) {
    return fail(ErrorKind::config, "coordinator URL '", url, "': expected http://HOST:PORT");
  }
  return CoordinatorAddress{parsed->host_address(),
                            parsed->has_port() ? std::string(parsed->port()) : "7077"};
}

Link::Link(std::unique_ptr<Stream> stream) : stream_(std::move(stream)) {}

Link::~Link() = default;

Task<std::unique_ptr<Link>> Link::connect(CoordinatorAddress address, std::string token) {
  auto stream = std::make_unique<Stream>(co_await net::this_coro::executor);
  Task<> reaching = reach(stream->websocket.next_layer(), address);
  const Result<> reached = co_await within(kConnectLimit, std::move(reaching));
  if (!reached) co_return within_context(address.text(), reached.error());
  prepare(stream->websocket, token);
  Task<> shaking = shake_hands(stream->websocket, address);
  const Result<> shaken = co_await within(kConnectLimit, std::move(shaking));
  if (!shaken) co_return within_context(address.text(), shaken.error());
  co_return std::unique_ptr<Link>(new Link(std::move(stream)));
}

std::string Link::local_address() const {
  boost::system::error_code error;
  const auto endpoint = stream_->websocket.next_layer().local_endpoint(error);
  return error ? "127.0.0.1" : endpoint.address().to_string();
}

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
