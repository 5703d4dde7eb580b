#include "cli/http_client.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/url.hpp>
#include <chrono>

namespace headsplit::cli {
namespace {

namespace beast = boost::beast;

constexpr Duration kTimeout = std::chrono::seconds(10);
constexpr std::size_t kBodyBytesMax = 1u << 30;

using Request = beast::http::request<beast::http::string_body>;

struct Address {
  std::string host;
  std::string port;
  bool tls = false;
};

Result<Address> address_of(const std::string& url) {
  const auto parsed = boost::urls::parse_uri(url);
  const bool tls = parsed && parsed->scheme() == "https";
  if (!parsed || (!tls && parsed->scheme() != "http") || parsed->host().empty()) {
    return fail(ErrorKind::config, "coordinator URL '", url,
                "': expected http://HOST:PORT or https://HOST:PORT");
  }
  return Address{parsed->host_address(), parsed->has_port() ? std::string(parsed->port()) : "7077",
                 tls};
}

Request request_of(const Server& server, const Address& address, const std::string& method,
                   const std::string& target, const std::string& body) {
  Request request(beast::http::string_to_verb(method), target, 11);
  request.set(beast::http::field::host, address.host + ":" + address.port);
  request.set(beast::http::field::user_agent, "headsplit");
  if (!server.token.empty()) {
    request.set(beast::http::field::authorization, "Bearer " + server.token);
  }
  request.body() = body;
  request.prepare_payload();
  return request;
}

Task<HttpReply> talk(Socket socket, Request request) {
  co_await beast::http::async_write(socket, request, net::use_awaitable);
  beast::flat_buffer buffer;
  beast::http::response_parser<beast::http::string_body> parser;
  parser.body_limit(kBodyBytesMax);
  co_await beast::http::async_read(socket, buffer, parser, net::use_awaitable);
  auto response = parser.release();
  co_return HttpReply{static_cast<int>(response.result_int()), std::move(response.body())};
}

/// One exchange, over TLS where the address says so.
Task<HttpReply> exchange(Address address, Request request, TlsFiles files) {
  net::ip::tcp::socket wire(co_await net::this_coro::executor);
  net::ip::tcp::resolver resolver(wire.get_executor());
  const auto endpoints =
      co_await resolver.async_resolve(address.host, address.port, net::use_awaitable);
  co_await net::async_connect(wire, endpoints, net::use_awaitable);
  if (!address.tls) {
    Socket socket(std::move(wire));
    co_return co_await talk(std::move(socket), std::move(request));
  }
  const Result<Tls> tls = Tls::client(files);
  if (!tls) co_return tls.error();
  Nursery nursery(wire.get_executor());
  auto tunnel = co_await tls->open(std::move(wire), address.host, kTimeout);
  if (!tunnel) co_return tunnel.error();
  nursery.start("", tunnel.value()->carry());
  co_return co_await talk(tunnel.value()->release_near(), std::move(request));
}

}  // namespace

Result<HttpReply> http(const Server& server, const std::string& method, const std::string& target,
                       const std::string& body) {
  const Address address = TRY(address_of(server.url));
  net::io_context context(1);
  std::optional<Result<HttpReply>> reply;
  Task<HttpReply> exchanging =
      exchange(address, request_of(server, address, method, target, body), server.tls);
  net::co_spawn(context, within(kTimeout, std::move(exchanging)),
                [&](std::exception_ptr thrown, Result<HttpReply> got) {
                  reply.emplace(thrown ? Result<HttpReply>(error_of(thrown)) : std::move(got));
                });
  while (!reply) context.run_one();
  if (!*reply) return within_context("coordinator at " + server.url, reply->error());
  return std::move(*reply);
}

Result<json::value> http_json(const Server& server, const std::string& method,
                              const std::string& target, const std::string& body) {
  const HttpReply reply = TRY(http(server, method, target, body));
  auto parsed = parse_json(reply.body);
  if (reply.status >= 200 && reply.status < 300) {
    if (!parsed) return within_context(method + " " + target, parsed.error());
    return parsed;
  }
  if (parsed && parsed->is_object() && parsed->get_object().contains("error") &&
      parsed->at("error").is_string()) {
    return fail(ErrorKind::config, std::string(parsed->at("error").get_string()));
  }
  return fail(ErrorKind::protocol, method, " ", target, ": HTTP ", reply.status, " ", reply.body);
}

std::string url_encoded(const std::string& text) {
  return boost::urls::encode(text, boost::urls::unreserved_chars);
}

}  // namespace headsplit::cli
