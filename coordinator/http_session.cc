#include "coordinator/http_session.h"

#include <array>
#include <boost/asio/redirect_error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

#include "coordinator/agent_session.h"
#include "coordinator/event_session.h"
#include "coordinator/rate.h"
#include "core/log.h"
#include "core/version.h"

namespace headsplit::coordinator {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using ErrorCode = boost::system::error_code;
using Parser = http::request_parser<http::string_body>;
using HttpResponse = http::response<http::string_body>;

constexpr std::uint32_t kHeadBytesMax = 16 << 10;
constexpr std::uint64_t kBodyBytesMax = 1 << 20;
/// A whole request must come within this, the pause before it included: slow clients end here.
constexpr Duration kRequestLimit = std::chrono::seconds(30);
constexpr Duration kResponseLimit = std::chrono::seconds(30);
/// The first one of a connection must come sooner: who says nothing takes a place from others.
constexpr Duration kFirstRequestLimit = std::chrono::seconds(5);
/// Of one connection; what is beyond is answered with 429, and the connection ends.
constexpr double kRequestsPerS = 100;
/// What a client still says to a refusal is read for so long: else it might not get to see it.
constexpr Duration kLingerLimit = std::chrono::milliseconds(500);
constexpr double kRequestBurst = 300;

net::awaitable<ErrorCode> read_request(Socket& socket, beast::flat_buffer& buffer, Parser& parser) {
  ErrorCode error;
  co_await http::async_read(socket, buffer, parser, net::redirect_error(net::use_awaitable, error));
  co_return error;
}

Task<> write_response(Socket& socket, HttpResponse& response) {
  co_await http::async_write(socket, response, net::use_awaitable);
  co_return Result<>();
}

HttpResponse http_response(Response response, unsigned http_version, bool keep_alive) {
  HttpResponse result(http::int_to_status(static_cast<unsigned>(response.status)), http_version);
  result.set(http::field::server, "headsplit-coordinator/" + version());
  result.set(http::field::content_type, response.content_type);
  result.set("X-Content-Type-Options", "nosniff");
  if (!response.allow.empty()) result.set(http::field::allow, response.allow);
  for (const auto& [name, value] : response.headers) result.set(name, value);
  if (response.status == 401) result.set(http::field::www_authenticate, "Bearer");
  result.keep_alive(keep_alive);
  result.body() = std::move(response.body);
  result.prepare_payload();
  return result;
}

/// The answer to a request that cannot be read; nothing when there is nobody to answer to.
std::optional<Response> answer_to_broken(const ErrorCode& error) {
  if (error == http::error::body_limit) {
    return error_response(413, str("a body holds at most ", kBodyBytesMax, " bytes"));
  }
  if (error == http::error::header_limit) {
    return error_response(431,
                          str("the head of a request holds at most ", kHeadBytesMax, " bytes"));
  }
  const bool gone = error == http::error::end_of_stream || error == http::error::partial_message ||
                    error.category() != http::make_error_code(http::error::bad_method).category();
  if (gone) return std::nullopt;
  return error_response(400, "not an HTTP request: " + error.message());
}

Result<Request> request_of(const HttpRequest& message) {
  Request request = TRY(request_from(message.method_string(), message.target()));
  request.body = message.body();
  request.authorization = message[http::field::authorization];
  request.accept = message[http::field::accept];
  request.host = message[http::field::host];
  request.origin = message[http::field::origin];
  request.if_none_match = message[http::field::if_none_match];
  return request;
}

/// What `handle` says, its exceptions included.
net::awaitable<Response> answer(const HttpRequest& message, Site& site) {
  Result<Request> request = request_of(message);
  if (!request) co_return error_response(400, request.error().message);
  std::string thrown;
  try {
    net::awaitable<Response> handling = handle(std::move(request).value(), site);
    co_return co_await std::move(handling);
  } catch (const boost::system::system_error& error) {
    if (error.code() == net::error::operation_aborted) throw;
    thrown = error.what();
  } catch (const std::exception& error) {
    thrown = error.what();
  }
  log_line(LogLevel::error, "coordinator", "request_failed",
           log_field("target", std::string(message.target())) + log_field("reason", thrown));
  co_return error_response(500, thrown);
}

/// What came of waiting for a request: it, or the answer to a broken one, or nothing: the client
/// is gone or slept.
struct Incoming {
  std::optional<HttpRequest> request;
  std::optional<Response> refusal;
};

net::awaitable<Incoming> next_request(Socket& socket, beast::flat_buffer& buffer, Duration limit) {
  Parser parser;
  parser.header_limit(kHeadBytesMax);
  parser.body_limit(kBodyBytesMax);
  net::awaitable<ErrorCode> reading = read_request(socket, buffer, parser);
  const Result<ErrorCode> read = co_await within(limit, std::move(reading));
  Incoming incoming;
  if (!read) co_return incoming;
  if (read.value()) {
    incoming.refusal = answer_to_broken(read.value());
  } else {
    incoming.request = parser.release();
  }
  co_return incoming;
}

/// Whether an agent may be served: what is refused is answered as any request.
bool is_agent(const HttpRequest& message, const Site& site) {
  if (!beast::websocket::is_upgrade(message)) return false;
  const Result<Request> request = request_of(message);
  return request && request->path == "/agent" && !refusal_of(*request, site);
}

/// Whether a follower of events may be served.
bool is_follower(const HttpRequest& message, const Site& site) {
  if (message.method() != http::verb::get) return false;
  const Result<Request> request = request_of(message);
  return request && request->path == "/api/events" && !refusal_of(*request, site);
}

/// False when no further request may follow.
net::awaitable<bool> respond(Socket& socket, HttpResponse response) {
  Task<> writing = write_response(socket, response);
  const Result<> written = co_await within(kResponseLimit, std::move(writing));
  co_return written.has_value() && response.keep_alive();
}

Task<> read_and_forget(Socket& socket) {
  std::array<char, 4096> bytes;
  while (true) co_await socket.async_read_some(net::buffer(bytes), net::use_awaitable);
}

/// The refusal of a request that was not read to its end, or of one too many.
net::awaitable<void> refuse(Socket& socket, Response refusal) {
  HttpResponse reply = http_response(std::move(refusal), 11, false);
  co_await respond(socket, std::move(reply));
  ErrorCode ignored;  // the client may be gone
  socket.shutdown(Socket::shutdown_send, ignored);
  Task<> reading = read_and_forget(socket);
  co_await within(kLingerLimit, std::move(reading));
}

}  // namespace

Task<> serve_connection(Socket socket, Site& site) {
  beast::flat_buffer buffer;
  Allowance allowance(kRequestsPerS, kRequestBurst);
  Duration limit = kFirstRequestLimit;
  bool open = true;
  while (open) {
    Incoming incoming = co_await next_request(socket, buffer, limit);
    limit = kRequestLimit;
    if (incoming.request && !allowance.take(std::chrono::steady_clock::now())) {
      incoming.request.reset();
      incoming.refusal = error_response(
          429, str("a connection may make ", kRequestsPerS, " requests a second: try later"));
    }
    if (incoming.refusal) {
      net::awaitable<void> refusing = refuse(socket, std::move(*incoming.refusal));
      co_await std::move(refusing);
    }
    if (!incoming.request) break;
    HttpRequest message = std::move(*incoming.request);
    if (is_agent(message, site)) {
      Task<> serving = serve_agent(std::move(socket), std::move(message), site.service);
      co_return co_await std::move(serving);
    }
    if (is_follower(message, site)) {
      Task<> following = serve_events(std::move(socket), site);
      co_return co_await std::move(following);
    }
    net::awaitable<Response> answering = answer(message, site);
    Response response = co_await std::move(answering);
    // Who has not the token starts over: a scan keeps no connection of ours.
    const bool keep_alive = message.keep_alive() && response.status != 401;
    HttpResponse reply = http_response(std::move(response), message.version(), keep_alive);
    open = co_await respond(socket, std::move(reply));
  }
  ErrorCode ignored;  // the client may have closed first
  socket.shutdown(Socket::shutdown_send, ignored);
  co_return Result<>();
}

}  // namespace headsplit::coordinator
