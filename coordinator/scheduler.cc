#include "coordinator/scheduler.h"

#include <algorithm>

#include "coordinator/coordinator_row.h"
#include "coordinator/scheduler_state.h"

namespace headsplit::coordinator {
namespace {

constexpr std::size_t kFinishedMax = 16;

}  // namespace

Scheduler::Scheduler(SchedulerSettings settings) : state_(std::make_unique<State>(settings)) {}
Scheduler::~Scheduler() = default;
Scheduler::Scheduler(Scheduler&&) noexcept = default;
Scheduler& Scheduler::operator=(Scheduler&&) noexcept = default;

std::vector<Action> Scheduler::step(const Event& event, TimePoint now) {
  state_->now = now;
  state_->actions.clear();
  std::visit([this](const auto& body) { state_->on(body); }, event);
  state_->grant_all();
  return std::move(state_->actions);
}

std::vector<SweepView> Scheduler::sweeps() const { return state_->sweeps(); }
std::vector<AgentView> Scheduler::agents() const { return state_->agents(); }
const SchedulerTotals& Scheduler::totals() const { return state_->totals; }

// ---- Sweeps ----------------------------------------------------------------------------------

SweepRun* Scheduler::State::active_sweep(const std::string& id) {
  const auto found = std::find_if(active_.begin(), active_.end(),
                                  [&](const SweepRun& sweep) { return sweep.plan().id == id; });
  return found == active_.end() ? nullptr : &*found;
}

void Scheduler::State::on(const SweepSubmitted& event) {
  if (active_sweep(event.plan->id) != nullptr) return;
  std::erase_if(finished_, [&](const auto& sweep) { return sweep->view().id == event.plan->id; });
  SweepRun& sweep = active_.emplace_back(event.plan, event.progress, event.backend);
  log(LogLevel::info, "sweep_queued",
      log_field("sweep", event.plan->id) + log_field("name", event.plan->name) +
          log_field("points", str(sweep.view().points)) +
          log_field("done", str(sweep.view().resumed)));
  end_if_finished(sweep);
}

void Scheduler::State::end_if_finished(SweepRun& sweep) {
  if (!sweep.finished()) return;
  const SweepView& view = sweep.view();
  actions.push_back(SweepFinished{view.id});
  log(LogLevel::info, "sweep_finished",
      log_field("sweep", view.id) + log_field("ok", str(view.ok)) +
          log_field("failed", str(view.failed)) + log_field("skipped", str(view.skipped)) +
          log_field("cancelled", str(view.cancelled)));
  keep_finished(std::make_shared<const FinishedSweep>(finished_sweep(sweep)));
  active_.remove_if([&](const SweepRun& other) { return &other == &sweep; });
}

void Scheduler::State::on(const SweepRecalled& event) {
  actions.push_back(SweepFinished{event.sweep->view().id});
  keep_finished(event.sweep);
}

void Scheduler::State::keep_finished(std::shared_ptr<const FinishedSweep> sweep) {
  finished_.push_back(std::move(sweep));
  if (finished_.size() > kFinishedMax) finished_.pop_front();
}

void Scheduler::State::on(const SweepCancelled& event) {
  SweepRun* sweep = active_sweep(event.sweep);
  if (sweep == nullptr) return;
  log(LogLevel::info, "sweep_cancelled",
      log_field("sweep", event.sweep) + log_field("reason", event.reason));
  const std::string reason = event.reason.empty() ? "the sweep was cancelled" : event.reason;
  for (std::size_t at = 0; at < sweep->plan().points.size(); ++at) {
    cancel_point(*sweep, at, reason);
  }
}

void Scheduler::State::cancel_point(SweepRun& sweep, std::size_t at, const std::string& reason) {
  PointRun& point = sweep.point(at);
  if (point.state == PointState::done) return;
  if (point.attempt) {
    stop_gang(sweep, at, kNobody, reason);
    release_agents(sweep, at);
  }
  store_coordinator_row(sweep, at, Status::cancelled, reason);
}

void Scheduler::State::store_coordinator_row(SweepRun& sweep, std::size_t at, Status status,
                                             std::string reason) {
  PointRun& point = sweep.point(at);
  ++point.epoch;  // no agent holds this one
  sweep.decide(at, status);
  actions.push_back(StoreRow{
      sweep.plan().id,
      coordinator_row(sweep.plan(), sweep.planned(at), status, std::move(reason), point.epoch)});
}

void Scheduler::State::on(const ShutdownBegun&) {
  shutting_down_ = true;
  for (auto& [session, agent] : agents_) {
    if (agent.sweep == nullptr) continue;
    SweepRun& sweep = *agent.sweep;
    const std::size_t at = agent.at;
    stop_gang(sweep, at, kNobody, "the coordinator is going down");
    release_agents(sweep, at);
    sweep.wait_again(at);
  }
  log(LogLevel::info, "shutdown_begun", "");
}

// ---- Views -----------------------------------------------------------------------------------

std::vector<SweepView> Scheduler::State::sweeps() const {
  std::vector<SweepView> views;
  for (const auto& sweep : finished_) views.push_back(sweep->view());
  for (const SweepRun& sweep : active_) views.push_back(sweep.view());
  return views;
}

std::vector<AgentView> Scheduler::State::agents() const {
  std::vector<AgentView> views;
  for (const auto& [session, agent] : agents_) {
    views.push_back({session, agent.info,
                     agent.sweep == nullptr ? "" : agent.sweep->planned(agent.at).id,
                     why_held_back(agent)});
  }
  return views;
}

// ---- Helpers ---------------------------------------------------------------------------------

void Scheduler::State::log(LogLevel level, std::string event, std::string details) {
  actions.push_back(LogDecision{level, std::move(event), std::move(details)});
}

TimePoint Scheduler::State::after(double seconds) const {
  return now +
         std::chrono::duration_cast<TimePoint::duration>(std::chrono::duration<double>(seconds));
}

std::string point_fields(const SweepRun& sweep, std::size_t at) {
  return log_field("sweep", sweep.plan().name) + log_field("point", sweep.planned(at).id) +
         log_field("label", point_label(sweep.planned(at).point));
}

}  // namespace headsplit::coordinator
