#include "agent/worker_process.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/write.hpp>

#include "agent/worker.h"

namespace headsplit::agent {
namespace {

/// A row with every sample the protocol allows is a tenth of this.
constexpr std::size_t kLineBytesMax = 1u << 20;
constexpr Duration kPoll = std::chrono::milliseconds(5);
constexpr Duration kGoneLimit = std::chrono::seconds(10);
constexpr Duration kEndLimit = std::chrono::seconds(2);

/// Waits for the child's end without blocking; false when it outlives `limit`.
net::awaitable<bool> gone_within(ChildProcess& child, Duration limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!child.ended()) {
    if (std::chrono::steady_clock::now() >= deadline) co_return false;
    co_await sleep_for(kPoll);
  }
  co_return true;
}

}  // namespace

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(const net::any_io_executor& executor,
                                                            const WorkerCommand& command) {
  const ChildOptions options{.argv = command.argv,
                             .environment = command.environment,
                             .pipe_stdin = true,
                             .pipe_stdout = true};
  ChildProcess child = TRY(ChildProcess::start(options));
  return std::unique_ptr<WorkerProcess>(new WorkerProcess(executor, std::move(child)));
}

WorkerProcess::WorkerProcess(const net::any_io_executor& executor, ChildProcess child)
    : child_(std::move(child)),
      to_worker_(executor, child_.release_stdin()),
      from_worker_(executor, child_.release_stdout()) {}

Task<std::string> WorkerProcess::read_line() {
  auto buffer = net::dynamic_buffer(received_, kLineBytesMax);
  const std::size_t length =
      co_await net::async_read_until(from_worker_, buffer, '\n', net::use_awaitable);
  std::string line = received_.substr(0, length - 1);
  received_.erase(0, length);
  co_return line;
}

Task<std::string> WorkerProcess::exchange(std::string line) {
  co_await net::async_write(to_worker_, net::buffer(line), net::use_awaitable);
  co_return co_await read_line();
}

net::awaitable<Error> WorkerProcess::explained(Error error) {
  if (error.kind != ErrorKind::io) co_return error;
  if (!co_await gone_within(child_, kEndLimit)) {
    co_return fail(ErrorKind::io, "worker closed its output: ", error.message);
  }
  const std::string ending = child_.ended().value();
  const bool killed = ending.starts_with("signal");
  co_return fail(ErrorKind::io, killed ? "worker killed by " : "worker ended with ", ending);
}

Task<DeviceInfo> WorkerProcess::greeting(Duration limit) {
  Task<std::string> reading = read_line();
  const Result<std::string> line = co_await within(limit, std::move(reading));
  if (!line) co_return co_await explained(line.error());
  const auto greeting = value_from_text<WorkerGreeting>(line.value());
  if (!greeting) co_return within_context("worker", greeting.error());
  if (!greeting->device) co_return fail(ErrorKind::config, greeting->error);
  ceilings_ = greeting->ceilings;
  co_return *greeting->device;
}

Task<std::string> WorkerProcess::answer_to(std::string line, Duration limit) {
  Task<std::string> exchanging = exchange(std::move(line));
  const Result<std::string> answer = co_await within(limit, std::move(exchanging));
  if (!answer) co_return co_await explained(answer.error());
  co_return answer;
}

Task<RankAnswer> WorkerProcess::prepare(const Lease& lease, Duration limit) {
  const Result<std::string> line = co_await answer_to(json_text(lease) + "\n", limit);
  if (!line) co_return line.error();
  RankAnswer answer;
  const auto parsed = parse_json(line.value());
  const bool prepared = parsed && parsed->is_object() && parsed->get_object().contains("prepared");
  if (prepared) {
    auto contact = from_json<WorkerPrepared>(parsed.value());
    if (!contact) co_return within_context("worker", contact.error());
    answer.prepared = std::move(contact->prepared);
  } else {
    auto row = row_from(line.value());
    if (!row) co_return row.error();
    answer.row = std::move(row).value();
  }
  co_return answer;
}

Task<Row> WorkerProcess::go(std::vector<RankContact> contacts, Duration limit) {
  const WorkerGo message{std::move(contacts)};
  const Result<std::string> line = co_await answer_to(json_text(message) + "\n", limit);
  if (!line) co_return line.error();
  co_return row_from(line.value());
}

Result<Row> WorkerProcess::row_from(const std::string& line) {
  const auto answer = parse_json(line);
  if (!answer) return within_context("worker", answer.error());
  auto row = from_json<Row>(answer.value());
  if (!row) return within_context("worker", row.error());
  ends_ = answer->get_object().contains(kWorkerEndsKey);
  return row;
}

Task<Row> WorkerProcess::run(const Lease& lease, Duration limit) {
  const Result<std::string> line = co_await answer_to(json_text(lease) + "\n", limit);
  if (!line) co_return line.error();
  co_return row_from(line.value());
}

net::awaitable<bool> WorkerProcess::end() {
  kill();
  co_return co_await gone_within(child_, kGoneLimit);
}

}  // namespace headsplit::agent
