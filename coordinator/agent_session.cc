#include "coordinator/agent_session.h"

#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>
#include <deque>

#include "coordinator/rate.h"

namespace headsplit::coordinator {
namespace {

namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;

constexpr std::size_t kMessageBytesMax = 1u << 20;
constexpr std::size_t kOutboxMax = 1000;
constexpr Duration kHelloLimit = std::chrono::seconds(10);
constexpr Duration kGoodbyeLimit = std::chrono::seconds(1);
constexpr Duration kOverloadPause = std::chrono::milliseconds(10);
/// An agent that sends more waits in the network, where it takes none of our memory.
constexpr double kMessagesPerS = 500;
constexpr double kMessageBurst = 1000;

/// A Hello, as far as any protocol version can be told apart: another major version may have
/// changed all but these two keys.
Result<Hello> hello_from(const std::string& text) {
  const auto parsed = parse_json(text);
  if (parsed && parsed->is_object()) {
    const json::value* major = parsed->get_object().if_contains("protocol_major");
    if (major != nullptr && major->is_int64() && major->get_int64() != kProtocolMajor) {
      Hello other;
      other.protocol_major = static_cast<int>(major->get_int64());
      other.agent.name = "(unknown)";
      return other;
    }
  }
  const auto message = agent_message_from(text);
  if (!message) return message.error();
  if (const auto* hello = std::get_if<Hello>(&message.value())) return *hello;
  return fail(ErrorKind::protocol, "the first message must be a hello");
}

class AgentSession final : public AgentLink {
 public:
  AgentSession(Socket socket, Service& service)
      : websocket_(std::move(socket)),
        service_(service),
        posted_(websocket_.get_executor(), 1),
        nursery_(websocket_.get_executor()) {}

  Task<> run(HttpRequest upgrade);

  void send(const CoordinatorMessage& message) override;
  void close(const std::string& reason) override;

 private:
  Task<> accept(const HttpRequest& upgrade);
  Task<std::string> read_text();
  Task<> write_text(std::string text);
  Task<> refuse(Error error);
  Task<> receive();
  Task<> deliver();
  Task<> say_goodbye(std::string reason);

  websocket::stream<Socket> websocket_;
  Service& service_;
  beast::flat_buffer received_;
  std::deque<std::string> outbox_;
  net::experimental::channel<void(boost::system::error_code)> posted_;
  Nursery nursery_;
  Allowance allowance_{kMessagesPerS, kMessageBurst};
  std::int64_t session_ = 0;
  bool closing_ = false;
};

Task<> AgentSession::accept(const HttpRequest& upgrade) {
  websocket_.set_option(
      websocket::stream_base::timeout{.handshake_timeout = std::chrono::seconds(5),
                                      .idle_timeout = std::chrono::seconds(30),
                                      .keep_alive_pings = true});
  websocket_.read_message_max(kMessageBytesMax);
  websocket_.text(true);
  co_await websocket_.async_accept(upgrade, net::use_awaitable);
  co_return Result<>();
}

Task<std::string> AgentSession::read_text() {
  received_.clear();
  boost::system::error_code error;
  co_await websocket_.async_read(received_, net::redirect_error(net::use_awaitable, error));
  if (error == websocket::error::closed) co_return fail(ErrorKind::io, "said goodbye");
  if (error == net::error::eof) co_return fail(ErrorKind::io, "connection closed");
  if (error) throw boost::system::system_error(error);
  if (!websocket_.got_text()) co_return fail(ErrorKind::protocol, "a binary message");
  co_return beast::buffers_to_string(received_.data());
}

Task<> AgentSession::write_text(std::string text) {
  co_await websocket_.async_write(net::buffer(text), net::use_awaitable);
  co_return Result<>();
}

Task<> AgentSession::run(HttpRequest upgrade) {
  Task<> accepting = accept(upgrade);
  const Result<> accepted = co_await within(kHelloLimit, std::move(accepting));
  if (!accepted) co_return accepted;
  Task<std::string> reading = read_text();
  const Result<std::string> text = co_await within(kHelloLimit, std::move(reading));
  if (!text) co_return text.error();
  Result<Hello> hello = hello_from(text.value());
  if (!hello) co_return co_await refuse(hello.error());
  // A cancellation that comes now must not throw us past the join.
  co_await net::this_coro::throw_if_cancelled(false);
  const Result<std::int64_t> joined = service_.join(std::move(hello).value(), *this);
  if (!joined) co_return co_await refuse(joined.error());
  session_ = joined.value();
  nursery_.start("", receive(), Nursery::OnEnd::others_end);
  nursery_.start("", deliver(), Nursery::OnEnd::others_end);
  const Result<> ended = co_await nursery_.join();
  service_.leave(session_, ended ? "connection closed" : ended.error().message);
  co_return ended;
}

Task<> AgentSession::refuse(Error error) {
  const CoordinatorMessage refusal = Refused{error.message};
  Task<> writing = write_text(message_text(refusal));
  const Result<> written = co_await within(kGoodbyeLimit, std::move(writing));
  if (written) {
    Task<> leaving = say_goodbye("refused");
    co_await std::move(leaving);
  }
  co_return error;
}

Task<> AgentSession::receive() {
  while (!closing_) {
    const Result<std::string> text = co_await read_text();
    if (!text) co_return text.error();
    Result<AgentMessage> message = agent_message_from(text.value());
    if (message && std::holds_alternative<Hello>(message.value())) {
      message = fail(ErrorKind::protocol, "a second hello");
    }
    if (!message) {
      close(message.error().message);
      co_return message.error();
    }
    while (service_.overloaded()) co_await sleep_for(kOverloadPause);
    while (!allowance_.take(std::chrono::steady_clock::now())) co_await sleep_for(kOverloadPause);
    if (!closing_) service_.hear(session_, std::move(message).value());
  }
  co_await sleep_for(kGoodbyeLimit);  // the goodbye ends this
  co_return Result<>();
}

Task<> AgentSession::deliver() {
  while (true) {
    while (outbox_.empty()) co_await posted_.async_receive(net::use_awaitable);
    std::string text = std::move(outbox_.front());
    outbox_.pop_front();
    const Result<> written = co_await write_text(std::move(text));
    if (!written) co_return written;
  }
}

Task<> AgentSession::say_goodbye(std::string reason) {
  reason.resize(std::min<std::size_t>(reason.size(), 120));  // a control frame holds 123 bytes
  const websocket::close_reason frame(websocket::close_code::going_away, reason);
  net::awaitable<void> closing = websocket_.async_close(frame, net::use_awaitable);
  const Result<> closed = co_await within(kGoodbyeLimit, std::move(closing));
  co_return closed;
}

void AgentSession::send(const CoordinatorMessage& message) {
  if (closing_) return;
  if (outbox_.size() >= kOutboxMax) return close("does not read what it is sent");
  outbox_.push_back(message_text(message));
  posted_.try_send(boost::system::error_code());
}

void AgentSession::close(const std::string& reason) {
  if (closing_) return;
  closing_ = true;
  nursery_.start("", say_goodbye(reason), Nursery::OnEnd::others_end);
}

}  // namespace

Task<> serve_agent(Socket socket, HttpRequest upgrade, Service& service) {
  AgentSession session(std::move(socket), service);
  Task<> running = session.run(std::move(upgrade));
  co_return co_await std::move(running);
}

}  // namespace headsplit::coordinator
