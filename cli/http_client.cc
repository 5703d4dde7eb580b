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

namespace net = boost::asio;
namespace beast = boost::beast;

constexpr auto kTimeout = std::chrono::seconds(10);
constexpr std::size_t kBodyBytesMax = 1u << 30;

using Request = beast::http::request<beast::http::string_body>;

struct Address {
  std::string host;
  std::string port;
};

Result<Address> address_of(const std::string& url) {
  const auto parsed = boost::urls::parse_uri(url);
  if (!parsed || parsed->scheme() != "http" || parsed->host().empty()) {
    return fail(ErrorKind::config, "coordinator URL '", url, "': expected http://HOST:PORT");
  }
  return Address{parsed->host(), parsed->has_port() ? std::string(parsed->port()) : "7077"};
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

/// One exchange, driven step by step so that each step has the deadline of the stream.
class Exchange {
 public:
  Result<HttpReply> run(const Address& address, const Request& request) {
    beast::error_code error;
    const auto endpoints =
        net::ip::tcp::resolver(context_).resolve(address.host, address.port, error);
    if (error) return failed(error);
    stream_.expires_after(kTimeout);
    if (!step([&](auto done) { stream_.async_connect(endpoints, std::move(done)); })) {
      return failed(error_);
    }
    if (!step([&](auto done) { beast::http::async_write(stream_, request, std::move(done)); })) {
      return failed(error_);
    }
    beast::flat_buffer buffer;
    beast::http::response_parser<beast::http::string_body> parser;
    parser.body_limit(kBodyBytesMax);
    if (!step([&](auto done) {
          beast::http::async_read(stream_, buffer, parser, std::move(done));
        })) {
      return failed(error_);
    }
    auto response = parser.release();
    return HttpReply{static_cast<int>(response.result_int()), std::move(response.body())};
  }

 private:
  template <class Start>
  bool step(Start start) {
    start([this](beast::error_code error, auto&&...) { error_ = error; });
    context_.restart();
    context_.run();
    return !error_;
  }

  static Error failed(const beast::error_code& error) {
    return fail(ErrorKind::io, error.message());
  }

  net::io_context context_{1};
  beast::tcp_stream stream_{context_};
  beast::error_code error_;
};

}  // namespace

Result<HttpReply> http(const Server& server, const std::string& method, const std::string& target,
                       const std::string& body) {
  const Address address = TRY(address_of(server.url));
  Exchange exchange;
  auto reply = exchange.run(address, request_of(server, address, method, target, body));
  if (!reply) return within_context("coordinator at " + server.url, reply.error());
  return reply;
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
