#include "coordinator/service.h"

#include <algorithm>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/post.hpp>

#include "coordinator/metrics/expose.h"
#include "coordinator/unix_time.h"
#include "core/version.h"

namespace headsplit::coordinator {
namespace {

constexpr Duration kTickInterval = std::chrono::milliseconds(200);
/// Above this many records waiting for the disk, reports wait in the network instead of memory.
constexpr std::size_t kStoreQueueMax = 4096;
constexpr std::size_t kNameBytesMax = 128;

/// The store's answer, brought from its thread to ours.
template <class T>
using Answer =
    net::experimental::channel<void(boost::system::error_code, std::shared_ptr<Result<T>>)>;

Task<StoredSweep> stored_sweep(Store& store, Plan plan, std::string backend) {
  const auto executor = co_await net::this_coro::executor;
  const auto answer = std::make_shared<Answer<StoredSweep>>(executor, 1);
  Store::SweepDone done = [answer, executor](Result<StoredSweep> result) {
    auto kept = std::make_shared<Result<StoredSweep>>(std::move(result));
    net::post(executor, [answer, kept] { answer->try_send(boost::system::error_code(), kept); });
  };
  store.begin_sweep(std::move(plan), std::move(backend), std::move(done));
  const auto kept = co_await answer->async_receive(net::use_awaitable);
  co_return std::move(*kept);
}

bool printable(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x20; });
}

/// Everything an agent says about itself is shown to people and in metrics.
Result<void> check_info(const AgentInfo& info) {
  if (info.name.empty()) return fail(ErrorKind::config, "an agent needs a name");
  for (const std::string* text : {&info.name, &info.node, &info.backend, &info.device,
                                  &info.gpu_uuid, &info.driver, &info.cuda, &info.build}) {
    if (text->size() > kNameBytesMax || !printable(*text)) {
      return fail(ErrorKind::config, "what an agent says of itself must be printable and at most ",
                  kNameBytesMax, " bytes a field");
    }
  }
  return {};
}

}  // namespace

Service::Service(net::any_io_executor executor, Store& store, ServiceSettings settings)
    : answered_(std::make_shared<Answered>(std::move(executor))),
      store_(store),
      settings_(settings),
      scheduler_(SchedulerSettings{.silence_limit_s = settings.silence_limit_s,
                                   .gang_patience_s = settings.gang_patience_s,
                                   .quarantine = settings.quarantine}),
      telemetry_(settings.metrics_series_max) {}

void Service::restore(RestoredSweeps sweeps) {
  for (auto& sweep : sweeps.finished) apply(SweepRecalled{std::move(sweep)});
  for (StoredSweep& sweep : sweeps.open) {
    apply(SweepSubmitted{sweep.plan, std::move(sweep.progress), sweep.backend});
  }
}

void Service::recall(const std::string& sweep, const std::vector<Row>& rows) {
  for (const Row& row : rows) telemetry_.row_restored(sweep, row);
}

Task<> Service::run() {
  while (!store_error_) {
    co_await sleep_for(kTickInterval);
    apply(Tick{});
  }
  co_return *store_error_;
}

// ---- Sweeps ----------------------------------------------------------------------------------

Task<SweepStatus> Service::submit(Plan plan, std::string backend) {
  Task<StoredSweep> storing = stored_sweep(store_, std::move(plan), std::move(backend));
  Result<StoredSweep> stored = co_await std::move(storing);
  if (!stored) co_return stored.error();
  const std::string id = stored->plan->id;
  apply(SweepSubmitted{stored->plan, std::move(stored->progress), stored->backend});
  const auto status = sweep(id);
  if (!status) co_return fail(ErrorKind::protocol, "sweep ", id, " vanished");
  co_return *status;
}

SweepStatus Service::status_of(const SweepView& view) const {
  SweepStatus status;
  static_cast<SweepView&>(status) = view;
  status.state = view.done() == view.points ? "finished" : "running";
  const auto rate = rates_.find(view.id);
  if (rate != rates_.end()) status.rate_per_s = rate->second.per_s(Clock::now());
  if (status.state == "finished") {
    status.eta_s = 0;
  } else if (status.rate_per_s > 0) {
    status.eta_s = static_cast<double>(view.points - view.done()) / status.rate_per_s;
  }
  return status;
}

std::vector<SweepStatus> Service::sweeps() const {
  std::vector<SweepStatus> all;
  for (const SweepView& view : scheduler_.sweeps()) all.push_back(status_of(view));
  return all;
}

std::optional<SweepStatus> Service::sweep(const std::string& id) const {
  for (const SweepView& view : scheduler_.sweeps()) {
    if (view.id == id) return status_of(view);
  }
  return std::nullopt;
}

void Service::cancel_sweep(const std::string& id, const std::string& reason) {
  apply(SweepCancelled{id, reason});
}

// ---- Agents ----------------------------------------------------------------------------------

Result<void> Service::admit(const Hello& hello) {
  TRY(check_info(hello.agent));
  if (hello.protocol_major != kProtocolMajor) {
    return fail(ErrorKind::config, "agent ", hello.agent.name, " speaks protocol ",
                hello.protocol_major, ".", hello.protocol_minor, ", this coordinator ",
                kProtocolMajor, ".", kProtocolMinor, ": use the same headsplit on both");
  }
  const auto known = session_of_.find(hello.agent.name);
  if (known == session_of_.end()) return {};
  const std::int64_t session = known->second;
  for (const AgentView& view : scheduler_.agents()) {
    if (view.session != session) continue;
    const AgentInfo& other = view.agent;
    if (other.node != hello.agent.node || other.process_id != hello.agent.process_id) {
      return fail(ErrorKind::config, "agent name '", other.name, "' is connected already (node ",
                  other.node, ", process ", other.process_id, "): give one of them a --name");
    }
  }
  // The same process again: its old connection broke, and we have not noticed yet.
  connected_.at(session).link->close("connected again");
  leave(session, "connected again");
  return {};
}

Result<std::int64_t> Service::join(Hello hello, AgentLink& link) {
  if (auto admitted = admit(hello); !admitted) {
    log_line(LogLevel::warn, "coordinator", "agent_refused",
             log_field("agent", hello.agent.name) + log_field("reason", admitted.error().message));
    return admitted.error();
  }
  const std::int64_t session = ++sessions_begun_;
  connected_[session] = Connected{&link, hello.agent.name, Clock::now(), {}, ""};
  session_of_[hello.agent.name] = session;
  telemetry_.agent_joined(session, hello.agent, unix_now_s());
  link.send(Welcome{session, settings_.heartbeat_s, settings_.silence_limit_s});
  // Before the agent counts as idle: a finished point must not be granted again.
  for (Row& row : hello.unacknowledged) apply(RowReported{session, std::move(row)});
  apply(AgentJoined{session, std::move(hello.agent)});
  return session;
}

void Service::hear(std::int64_t session, AgentMessage message) {
  telemetry_.agent_spoke(session, unix_now_s());
  if (const auto* beat = std::get_if<Heartbeat>(&message)) {
    telemetry_.heartbeat(session, *beat, unix_now_s());
  }
  if (const auto found = connected_.find(session); found != connected_.end()) {
    found->second.heard = Clock::now();
    if (const auto* beat = std::get_if<Heartbeat>(&message)) found->second.heartbeat = *beat;
  }
  if (auto* report = std::get_if<Report>(&message)) {
    apply(RowReported{session, std::move(report->row)});
  } else if (auto* ready = std::get_if<Ready>(&message)) {
    apply(RankReady{session, std::move(*ready)});
  } else {
    const auto* beat = std::get_if<Heartbeat>(&message);
    apply(AgentSpoke{session, beat == nullptr ? std::nullopt : std::optional(beat->spool_full)});
  }
}

std::vector<AgentStatus> Service::agents() const {
  std::vector<AgentStatus> all;
  for (const AgentView& view : scheduler_.agents()) {
    AgentStatus status;
    static_cast<AgentView&>(status) = view;
    if (const auto found = connected_.find(view.session); found != connected_.end()) {
      const Connected& agent = found->second;
      if (!view.working_on.empty()) status.working_on_label = agent.label;
      status.heard_s_ago = std::chrono::duration<double>(Clock::now() - agent.heard).count();
      status.sm_clock_mhz = agent.heartbeat.sm_clock_mhz;
      status.power_w = agent.heartbeat.power_w;
      status.temperature_c = agent.heartbeat.temperature_c;
    }
    all.push_back(std::move(status));
  }
  return all;
}

void Service::leave(std::int64_t session, const std::string& reason) {
  forget(session);
  apply(AgentLost{session, reason});
}

void Service::close_all(const std::string& reason) {
  for (const auto& [session, connected] : connected_) connected.link->close(reason);
}

bool Service::overloaded() const { return store_.queued() > kStoreQueueMax; }

MetricsReply Service::metrics(const std::string& accept) {
  const MetricsMoment moment{.sweeps = scheduler_.sweeps(),
                             .agents = scheduler_.agents(),
                             .totals = scheduler_.totals(),
                             .store_queued = store_.queued()};
  const Exposition exposition = expose(telemetry_.input(moment));
  telemetry_.series_omitted(exposition.omitted);
  return metrics_reply(exposition, accept);
}

}  // namespace headsplit::coordinator
