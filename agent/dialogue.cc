#include "agent/dialogue.h"

#include "core/log.h"

namespace headsplit::agent {
namespace {

constexpr Duration kGreetLimit = std::chrono::seconds(10);
constexpr Duration kGoodbyeLimit = std::chrono::seconds(1);
/// Heartbeats wait behind rows; when nothing goes out any more, more of them help nobody.
constexpr std::size_t kOutboxForHeartbeats = 16;
/// Of the rows in a hello: well below what one message may hold.
constexpr std::size_t kHelloRowBytes = 512 << 10;

}  // namespace

Dialogue::Dialogue(net::any_io_executor executor, Link& link, Measurer& measurer,
                   const DeviceWatch& watch, Spool& spool)
    : executor_(executor),
      link_(link),
      measurer_(measurer),
      watch_(watch),
      spool_(spool),
      posted_(executor, 1) {}

Task<CoordinatorMessage> Dialogue::next_message() {
  const Result<std::string> text = co_await link_.receive();
  if (!text) co_return text.error();
  co_return coordinator_message_from(text.value());
}

Task<Welcome> Dialogue::greet(AgentInfo agent) {
  Hello hello;
  hello.agent = std::move(agent);
  std::size_t bytes = 0;
  for (const Row& row : spool_.rows()) {
    bytes += json_text(row).size();
    if (bytes <= kHelloRowBytes) {
      hello.unacknowledged.push_back(row);
    } else {
      report(row);
    }
  }
  Task<> sending = link_.send(message_text(AgentMessage(std::move(hello))));
  const Result<> sent = co_await within(kGreetLimit, std::move(sending));
  if (!sent) co_return sent.error();
  Task<CoordinatorMessage> receiving = next_message();
  const Result<CoordinatorMessage> answer = co_await within(kGreetLimit, std::move(receiving));
  if (!answer) co_return answer.error();
  if (const auto* refused = std::get_if<Refused>(&answer.value())) {
    co_return fail(ErrorKind::config, refused->reason);
  }
  const auto* welcome = std::get_if<Welcome>(&answer.value());
  if (welcome == nullptr) co_return fail(ErrorKind::protocol, "no welcome to our hello");
  co_return *welcome;
}

Task<> Dialogue::talk(Welcome welcome) {
  // A cancellation that comes now must not throw us past the join.
  co_await net::this_coro::throw_if_cancelled(false);
  Nursery nursery(executor_);
  nursery.start("receiving", receive(), Nursery::OnEnd::others_end);
  nursery.start("sending", send(), Nursery::OnEnd::others_end);
  nursery.start("heartbeats", send_heartbeats(welcome.heartbeat_s), Nursery::OnEnd::others_end);
  const Result<> ended = co_await nursery.join();
  if (leaving_) co_return Result<>();
  co_return ended;
}

Task<> Dialogue::receive() {
  while (true) {
    Result<CoordinatorMessage> message = co_await next_message();
    if (!message) co_return message.error();
    const Result<> handled = handle(std::move(message).value());
    if (!handled) co_return handled;
  }
}

Result<> Dialogue::handle(CoordinatorMessage message) {
  if (auto* grant = std::get_if<Grant>(&message)) {
    log_line(LogLevel::info, "agent", "lease",
             log_field("point", grant->lease.point_id) +
                 log_field("epoch", str(grant->lease.epoch)) +
                 log_field("what", point_label(grant->lease.point)));
    measurer_.take(std::move(grant->lease));
  } else if (const auto* ack = std::get_if<Ack>(&message)) {
    forget(*ack);
  } else if (const auto* cancel = std::get_if<Cancel>(&message)) {
    measurer_.cancel(*cancel);
  } else if (auto* go = std::get_if<Go>(&message)) {
    measurer_.go(std::move(*go));
  } else {
    return fail(ErrorKind::protocol, "a second answer to our hello");
  }
  return {};
}

void Dialogue::forget(const Ack& ack) {
  spool_.forget(ack);
  if (ack.acceptance == Acceptance::accepted) return;
  log_line(LogLevel::warn, "agent", "row not taken",
           log_field("point", ack.point_id) + log_field("epoch", str(ack.epoch)) +
               log_field("as", enum_name(ack.acceptance)) + log_field("reason", ack.reason));
}

Task<> Dialogue::send() {
  while (true) {
    while (outbox_.empty() && !leaving_) co_await posted_.async_receive(net::use_awaitable);
    if (outbox_.empty()) break;
    std::string text = std::move(outbox_.front());
    outbox_.pop_front();
    const Result<> sent = co_await link_.send(std::move(text));
    if (!sent) co_return sent;
  }
  Task<> closing = link_.close();
  co_return co_await within(kGoodbyeLimit, std::move(closing));
}

Task<> Dialogue::send_heartbeats(double interval_s) {
  std::optional<Ceilings> told;
  while (true) {
    co_await sleep_for(seconds(interval_s));
    if (outbox_.size() >= kOutboxForHeartbeats) continue;
    Heartbeat heartbeat;
    heartbeat.working_on = measurer_.working_on();
    heartbeat.spool_full = spool_.full();
    watch_(heartbeat);
    if (told != measurer_.ceilings()) {
      told = measurer_.ceilings();
      heartbeat.ceilings = told;
    }
    post(AgentMessage(std::move(heartbeat)));
  }
}

void Dialogue::report(const Row& row) { post(AgentMessage(Report{row})); }

void Dialogue::ready(const Ready& rank) { post(AgentMessage(rank)); }

void Dialogue::leave() {
  leaving_ = true;
  posted_.try_send(boost::system::error_code());
}

void Dialogue::post(const AgentMessage& message) {
  outbox_.push_back(message_text(message));
  posted_.try_send(boost::system::error_code());
}

}  // namespace headsplit::agent
