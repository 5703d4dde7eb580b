#include "agent/measurer.h"

#include "agent/ceilings.h"
#include "agent/worker.h"
#include "core/log.h"
#include "core/version.h"

namespace headsplit::agent {
namespace {

constexpr int kStartFailuresMax = 3;
constexpr Duration kRestartPause = std::chrono::seconds(1);
constexpr Duration kHoldPause = std::chrono::milliseconds(200);

/// The same work, whatever the epoch.
bool same_work(const Lease& a, const Lease& b) {
  Lease aligned = a;
  aligned.epoch = b.epoch;
  aligned.deadline_s = b.deadline_s;
  return aligned == b;
}

}  // namespace

Measurer::Measurer(net::any_io_executor executor, MeasurerOptions options,
                   std::function<void(Row)> deliver)
    : executor_(std::move(executor)),
      options_(std::move(options)),
      deliver_(std::move(deliver)),
      taken_(executor_, 1),
      told_(executor_, 1) {}

Task<DeviceInfo> Measurer::open() {
  const Result<> started = co_await start_worker();
  if (!started) co_return started.error();
  co_return device_;
}

Task<> Measurer::start_worker() {
  WorkerCommand command = options_.worker;
  if (ceilings_) {
    command.environment.push_back(str(kKnownCeilingsVariable, "=", json_text(*ceilings_)));
  }
  auto started = WorkerProcess::start(executor_, command);
  if (!started) co_return started.error();
  worker_ = std::move(started).value();
  Task<DeviceInfo> greeting = worker_->greeting(seconds(options_.worker_start_s));
  const Result<DeviceInfo> device = co_await std::move(greeting);
  if (!device) {
    co_await end_worker();
    co_return device.error();
  }
  device_ = device.value();
  ceilings_ = worker_->ceilings();
  co_return Result<>();
}

net::awaitable<void> Measurer::end_worker() {
  if (!worker_) co_return;
  std::unique_ptr<WorkerProcess> ending = std::move(worker_);
  if (co_await ending->end()) co_return;
  log_line(LogLevel::error, "agent", "worker does not die", log_field("pid", str(ending->pid())));
  // Its destructor would wait for a process that the kernel holds, and we would hang with it.
  [[maybe_unused]] const WorkerProcess* left_behind = ending.release();
}

Task<> Measurer::ensure_worker() {
  if (worker_ && worker_->alive()) co_return Result<>();
  if (worker_) log_line(LogLevel::warn, "agent", "worker died while idle");
  co_await end_worker();
  const Result<> started = co_await start_worker();
  if (started) {
    start_failures_ = 0;
    co_return started;
  }
  log_line(LogLevel::error, "agent", "no worker", log_field("reason", started.error().message));
  if (++start_failures_ >= kStartFailuresMax) co_return started;
  co_await sleep_for(kRestartPause);
  co_return Result<>();
}

void Measurer::take(Lease lease) {
  taken_at_ = Clock::now();
  // A rank prepares anew for each attempt: the other ranks are not those of the last.
  const bool renewable = current_ && !given_up_ && lease.gang.size == 0;
  if (renewable && same_work(*current_, lease)) {
    current_ = std::move(lease);
    return;
  }
  if (current_) give_up();
  next_ = std::move(lease);
  taken_.try_send(boost::system::error_code());
}

void Measurer::cancel(const Cancel& attempt) {
  const auto is_it = [&](const std::optional<Lease>& lease) {
    return lease && lease->sweep == attempt.sweep && lease->point_id == attempt.point_id &&
           lease->epoch == attempt.epoch;
  };
  if (is_it(next_)) next_.reset();
  if (is_it(current_)) give_up();
}

void Measurer::give_up() {
  given_up_ = true;
  told_.try_send(boost::system::error_code());
  if (worker_) worker_->kill();
}

std::string Measurer::working_on() const {
  if (current_ && !given_up_) return current_->point_id;
  return next_ ? next_->point_id : "";
}

Duration Measurer::time_left() const {
  return seconds(current_->deadline_s) - (Clock::now() - taken_at_);
}

Task<> Measurer::run() {
  while (true) {
    const Result<> ready = co_await ensure_worker();
    if (!ready) co_return ready;
    while (!next_) co_await taken_.async_receive(net::use_awaitable);
    if (!may_start_()) {
      co_await sleep_for(kHoldPause);
      continue;
    }
    if (!worker_ || !worker_->alive()) continue;
    current_ = std::exchange(next_, std::nullopt);
    given_up_ = false;
    go_.reset();
    co_await measure();
    current_.reset();
  }
}

void Measurer::go(Go go) {
  const bool is_it = current_ && !given_up_ && current_->gang.size > 0 &&
                     current_->sweep == go.sweep && current_->point_id == go.point_id &&
                     current_->epoch == go.epoch;
  if (!is_it) return;
  go_ = std::move(go);
  told_.try_send(boost::system::error_code());
}

net::awaitable<void> Measurer::await_go() {
  while (!go_ && !given_up_) co_await told_.async_receive(net::use_awaitable);
}

/// Prepare, wait for the others, go.
Task<Row> Measurer::measure_rank() {
  Lease lease = *current_;
  lease.gang.address = address_;
  Task<RankAnswer> preparing = worker_->prepare(lease, time_left());
  Result<RankAnswer> answer = co_await std::move(preparing);
  if (!answer) co_return answer.error();
  if (answer->row) co_return std::move(*answer->row);
  Ready ready;
  ready.sweep = lease.sweep;
  ready.point_id = lease.point_id;
  ready.epoch = lease.epoch;
  ready.rank = lease.gang.rank;
  ready.contact = std::move(*answer->prepared);
  ready_(std::move(ready));
  net::awaitable<void> waiting = await_go();
  const bool told = co_await finishes_within(time_left(), std::move(waiting));
  if (given_up_) co_return fail(ErrorKind::cancelled, "given up");
  if (!told) {
    co_return fail(ErrorKind::io, "the other ranks were not ready within ", lease.deadline_s, " s");
  }
  Task<Row> going = worker_->go(std::move(go_->contacts), seconds(lease.deadline_s));
  co_return co_await std::move(going);
}

/// What the row says when a worker did not give one.
std::string Measurer::reason_of(const Error& error) const {
  if (error.kind != ErrorKind::timeout) return error.message;
  return str("no answer within ", current_->deadline_s, " s");
}

net::awaitable<void> Measurer::measure() {
  Task<Row> running =
      current_->gang.size > 0 ? measure_rank() : worker_->run(*current_, time_left());
  Result<Row> row = co_await std::move(running);
  if (given_up_) {
    log_line(LogLevel::info, "agent", "gave up", log_field("point", current_->point_id));
  } else if (row) {
    finish(std::move(row).value());
  } else {
    const std::string reason = reason_of(row.error());
    log_line(LogLevel::warn, "agent", "attempt failed",
             log_field("point", current_->point_id) + log_field("reason", reason));
    finish(failed_row(*current_, reason, true));
  }
  if (given_up_ || !row || worker_->ends()) co_await end_worker();
}

void Measurer::finish(Row row) {
  row.point_id = current_->point_id;
  row.epoch = current_->epoch;
  row.sweep = current_->sweep;
  row.agent = options_.agent;
  row.node = options_.node;
  row.backend = enum_name(device_.backend);
  row.device = device_.name;
  row.gpu_uuid = device_.gpu_uuid;
  row.driver = device_.driver;
  row.cuda = device_.cuda;
  row.build = build_revision();
  deliver_(std::move(row));
}

net::awaitable<void> Measurer::close() { co_await end_worker(); }

}  // namespace headsplit::agent
