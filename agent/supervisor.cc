#include "agent/supervisor.h"

#include <algorithm>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>

#include "core/log.h"
#include "core/version.h"

namespace headsplit::agent {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Duration kGoodbyeLimit = std::chrono::seconds(1);
constexpr Duration kRetryPauseMin = std::chrono::milliseconds(100);
constexpr Duration kRetryPauseMax = std::chrono::seconds(2);

AgentInfo with_device(AgentInfo agent, const DeviceInfo& device) {
  agent.backend = enum_name(device.backend);
  agent.device = device.name;
  agent.gpu_uuid = device.gpu_uuid;
  agent.driver = device.driver;
  agent.cuda = device.cuda;
  agent.memory_bytes = device.memory_bytes;
  agent.build = build_revision();
  return agent;
}

MeasurerOptions measurer_options(const SupervisorOptions& options) {
  return {.worker = options.worker, .agent = options.agent.name, .node = options.agent.node};
}

/// Lets others find the dialogue while it lives, even when it is left by an exception.
class Introduction {
 public:
  Introduction(Dialogue*& place, Dialogue* dialogue) : place_(place) { place_ = dialogue; }
  ~Introduction() { place_ = nullptr; }
  Introduction(const Introduction&) = delete;
  Introduction& operator=(const Introduction&) = delete;

 private:
  Dialogue*& place_;
};

}  // namespace

Supervisor::Supervisor(net::any_io_executor executor, SupervisorOptions options, Spool spool)
    : executor_(executor),
      options_(std::move(options)),
      measurer_(executor, measurer_options(options_), [this](Row row) { deliver(std::move(row)); }),
      spool_(std::move(spool)) {
  measurer_.start_when([this] { return !spool_.full(); });
  // Without a dialogue the attempt is lost anyway: the coordinator ends it for all ranks.
  measurer_.on_ready([this](const Ready& ready) {
    if (dialogue_ != nullptr) dialogue_->ready(ready);
  });
}

net::awaitable<ExitCode> Supervisor::run() {
  Nursery nursery(executor_);
  nursery.start("", wait_for_signal(), Nursery::OnEnd::others_end);
  nursery.start("", work(), Nursery::OnEnd::others_end);
  const Result<> ended = co_await nursery.join();
  co_await measurer_.close();
  if (stopping_) co_return ExitCode::ok;
  const Error error = ended ? fail(ErrorKind::io, "ended for no reason") : ended.error();
  std::fprintf(stderr, "headsplit-agent: %s\n", error.message.c_str());
  co_return error.kind == ErrorKind::config ? ExitCode::usage : ExitCode::failed;
}

Task<> Supervisor::wait_for_signal() {
  net::signal_set signals(executor_, SIGINT, SIGTERM);
  const int number = co_await signals.async_wait(net::use_awaitable);
  log_line(LogLevel::info, "agent", "stopping", log_field("signal", str(number)));
  stopping_ = true;
  if (dialogue_ != nullptr) {
    dialogue_->leave();
    co_await sleep_for(kGoodbyeLimit);  // cut short by the end of the dialogue
  }
  co_return Result<>();
}

Task<> Supervisor::work() {
  const Result<DeviceInfo> device = co_await measurer_.open();
  if (!device) co_return device.error();
  options_.agent = options_.with_place(with_device(options_.agent, device.value()));
  watch_ = options_.watch_device(options_.agent);
  log_line(LogLevel::info, "agent", "device ready",
           log_field("name", options_.agent.name) + log_field("backend", options_.agent.backend) +
               log_field("device", options_.agent.device));
  // A cancellation that comes now must not throw us past the join.
  co_await net::this_coro::throw_if_cancelled(false);
  Nursery nursery(executor_);
  nursery.start("", measurer_.run(), Nursery::OnEnd::others_end);
  nursery.start("", stay_connected(), Nursery::OnEnd::others_end);
  co_return co_await nursery.join();
}

Task<> Supervisor::stay_connected() {
  last_contact_ = Clock::now();
  Duration pause = kRetryPauseMin;
  while (true) {
    const Clock::time_point contact_before = last_contact_;
    const Result<> ended = co_await connect_once();
    if (stopping_) co_return Result<>();
    const Error& error = ended.error();
    if (error.kind == ErrorKind::config) co_return error;
    const bool was_connected = last_contact_ != contact_before;
    log_line(was_connected ? LogLevel::warn : LogLevel::debug, "agent", "no coordinator",
             log_field("reason", error.message));
    if (Clock::now() - last_contact_ > seconds(options_.give_up_s)) {
      co_return within_context(str("gave up after ", options_.give_up_s, " s"), error);
    }
    if (was_connected) pause = kRetryPauseMin;
    co_await sleep_for(pause);
    pause = std::min(2 * pause, kRetryPauseMax);
  }
}

/// One link, from its beginning to its end.
Task<> Supervisor::connect_once() {
  auto link = co_await Link::connect(options_.coordinator, options_.token, options_.tls);
  if (!link) co_return link.error();
  measurer_.set_address(options_.address.empty() ? link.value()->local_address()
                                                 : options_.address);
  Dialogue dialogue(executor_, *link.value(), measurer_, watch_, spool_);
  const Result<Welcome> welcome = co_await dialogue.greet(options_.agent);
  if (!welcome) co_return welcome.error();
  log_line(LogLevel::info, "agent", "connected",
           log_field("coordinator", options_.coordinator.text()) +
               log_field("session", str(welcome->session)));
  const Introduction introduction(dialogue_, &dialogue);
  Task<> talking = dialogue.talk(welcome.value());
  const Result<> ended = co_await std::move(talking);
  last_contact_ = Clock::now();
  co_return ended;
}

void Supervisor::deliver(Row row) {
  log_line(LogLevel::info, "agent", "row",
           log_field("point", row.point_id) + log_field("epoch", str(row.epoch)) +
               log_field("status", enum_name(row.status)) + log_field("reason", row.reason));
  spool_.add(row);
  if (dialogue_ != nullptr) dialogue_->report(row);
}

}  // namespace headsplit::agent
