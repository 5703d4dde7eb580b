// A thousand agents in gangs of eight, through ten thousand seeded schedules of the pure scheduler:
// agents die, come back, are slow to be ready, fail, and report twice or late.

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "coordinator/scheduler.h"

namespace headsplit::coordinator {
namespace {

constexpr int kAgents = 1000;
constexpr int kSchedules = 10'000;
constexpr int kRanks = 8;

/// A rank in the hands of an agent.
struct Seat {
  Lease lease;
  bool ready = false;
  bool gone = false;
};

/// One scheduler that lives through all schedules; each is a sweep of its own, and they overlap.
class GangSimulation {
 public:
  GangSimulation() : agents_(kAgents) {
    const Sweep sweep = sweep_from_yaml(
                            "name: s\nranks: real\nlayouts: [{tp: 8}, {dp: 8}, {tp: 2}]\n"
                            "axes: {batch: 8}\nlimits: {attempts: 3, point_timeout_s: 20}\n",
                            "s.yaml")
                            .value();
    plan_ = make_plan(sweep, std::nullopt).value();
    for (std::size_t at = 0; at < agents_.size(); ++at) join(at);
  }

  /// Submits a sweep and lets `turns` things happen, in an order drawn from the seed.
  void schedule(std::uint64_t seed) {
    random_.seed(seed);
    Plan plan = plan_;
    plan.id = str("sweep-", seed);
    open_[plan.id] = seed;
    step(SweepSubmitted{std::make_shared<const Plan>(std::move(plan)), {}, "cpu"});
    while (open_.size() > 20) turn(true);
  }

  /// Without faults, until all has ended; false when it does not.
  bool calm() {
    for (int turns = 0; !open_.empty() && turns < 200'000; ++turns) turn(false);
    return open_.empty();
  }

  std::string broken;  ///< the first broken rule
  std::int64_t rows = 0;
  std::int64_t whole_rows = 0;
  std::int64_t gangs = 0;
  std::int64_t lost = 0;
  std::uint64_t most_behind = 0;  ///< sweeps that began between a sweep's begin and its end

 private:
  struct Agent {
    std::int64_t session = 0;
    std::vector<Seat> seats;
  };

  void join(std::size_t at) {
    agents_[at].session = ++last_session_;
    by_session_[last_session_] = at;
    step(AgentJoined{last_session_, AgentInfo{.name = str("a", at),
                                              .node = str("n", at / kRanks),
                                              .local_rank = static_cast<int>(at % kRanks),
                                              .backend = "cpu"}});
  }

  std::size_t below(std::size_t count) { return random_() % count; }

  void turn(bool chaos) {
    now_ += std::chrono::milliseconds(5);
    if (busy_.empty()) {
      step(Tick{});
      return;
    }
    auto chosen = busy_.lower_bound(below(agents_.size()));
    if (chosen == busy_.end()) chosen = busy_.begin();
    const std::size_t at = *chosen;
    const std::size_t luck = chaos ? below(200) : 100;
    if (luck == 0) return lose(at);
    if (luck < 5) return;  // it takes its time
    work(at, luck);
  }

  void lose(std::size_t at) {
    ++lost;
    const std::int64_t session = agents_[at].session;
    agents_[at].seats.clear();
    busy_.erase(at);
    by_session_.erase(session);
    step(AgentLost{session, "connection closed"});
    join(at);
  }

  void work(std::size_t at, std::size_t luck) {
    Agent& agent = agents_[at];
    Seat& seat = agent.seats.front();
    const Lease lease = seat.lease;
    if (!seat.ready) {
      seat.ready = true;
      step(RankReady{agent.session, Ready{lease.sweep, lease.point_id, lease.epoch, lease.gang.rank,
                                          RankContact{.port = lease.gang.rank}}});
      return;
    }
    if (!seat.gone) return;
    Row row = row_of(lease.point);
    row.epoch = lease.epoch;
    row.sweep = lease.sweep;
    row.rank = lease.gang.rank;
    row.status = luck < 8 ? Status::failed : Status::ok;
    row.retryable = luck < 7;
    row.time_us = 1;
    row.parts = {RankPart{.attention_us = 1}};
    agent.seats.erase(agent.seats.begin());
    if (agent.seats.empty()) busy_.erase(at);
    step(RowReported{agent.session, row});
    if (luck > 190) step(RowReported{agent.session, row});
  }

  void step(const Event& event) {
    for (const Action& action : scheduler_.step(event, now_)) carry_out(action);
  }

  void carry_out(const Action& action) {
    if (const auto* grant = std::get_if<GrantGang>(&action)) {
      ++gangs;
      for (const GrantLease& seat : grant->seats) give(seat);
    } else if (const auto* go = std::get_if<SendGo>(&action)) {
      if (Seat* seat = seat_of(go->session, go->go.sweep, go->go.point_id, go->go.epoch)) {
        seat->gone = true;
        if (!seat->ready) broken = "a rank is told to go that is not ready";
      }
    } else if (const auto* cancel = std::get_if<SendCancel>(&action)) {
      take_back(*cancel);
    } else if (const auto* store = std::get_if<StoreRow>(&action)) {
      ++rows;
      const auto ranks = static_cast<std::size_t>(store->row.tp * store->row.dp);
      if (store->row.status == Status::ok) {
        ++whole_rows;
        if (store->row.parts.size() != ranks) broken = "a row lacks parts of its gang";
      }
      if (!stored_.insert(store->sweep + store->row.point_id).second) broken = "a second row";
      step(RowStored{store->sweep, store->row.point_id});
    } else if (const auto* finished = std::get_if<SweepFinished>(&action)) {
      const auto open = open_.find(finished->sweep);
      most_behind = std::max(most_behind, last_seed_ - open->second);
      open_.erase(open);
    } else if (std::holds_alternative<GrantLease>(action)) {
      broken = "a rank of a gang was granted alone";
    }
  }

  void give(const GrantLease& seat) {
    const auto at = by_session_.at(seat.session);
    if (!agents_[at].seats.empty()) broken = "an agent has two ranks at once";
    agents_[at].seats.push_back({seat.lease});
    busy_.insert(at);
  }

  Seat* seat_of(std::int64_t session, const std::string& sweep, const std::string& point,
                std::int64_t epoch) {
    const auto at = by_session_.find(session);
    if (at == by_session_.end()) return nullptr;
    for (Seat& seat : agents_[at->second].seats) {
      const Lease& lease = seat.lease;
      if (lease.sweep == sweep && lease.point_id == point && lease.epoch == epoch) return &seat;
    }
    return nullptr;
  }

  void take_back(const SendCancel& cancel) {
    const Cancel& what = cancel.cancel;
    const Seat* seat = seat_of(cancel.session, what.sweep, what.point_id, what.epoch);
    if (seat == nullptr) return;
    const std::size_t at = by_session_.at(cancel.session);
    agents_[at].seats.clear();
    busy_.erase(at);
  }

 public:
  void note_seed(std::uint64_t seed) { last_seed_ = seed; }

 private:
  Scheduler scheduler_{{.silence_limit_s = 1e9, .deadline_grace_s = 1}};
  TimePoint now_{std::chrono::hours(1)};
  std::mt19937_64 random_;
  Plan plan_;
  std::vector<Agent> agents_;
  std::map<std::int64_t, std::size_t> by_session_;
  std::set<std::size_t> busy_;
  std::map<std::string, std::uint64_t> open_;
  std::set<std::string> stored_;
  std::int64_t last_session_ = 0;
  std::uint64_t last_seed_ = 0;
};

TEST(GangSimulation, ThousandAgentsInGangsOfEightNeitherDeadlockNorStarve) {
  GangSimulation simulation;
  for (std::uint64_t seed = 1; seed <= kSchedules; ++seed) {
    simulation.note_seed(seed);
    simulation.schedule(seed);
    ASSERT_EQ(simulation.broken, "") << "schedule " << seed;
  }
  EXPECT_TRUE(simulation.calm()) << "some sweep never ends";
  EXPECT_EQ(simulation.rows, 3 * kSchedules);
  EXPECT_GT(simulation.whole_rows, 2 * kSchedules);
  EXPECT_GT(simulation.gangs, 3 * kSchedules) << "retries are common";
  EXPECT_GT(simulation.lost, kSchedules / 10);
  EXPECT_LT(simulation.most_behind, 2000u) << "sweeps are served in order, whatever fails";
}

}  // namespace
}  // namespace headsplit::coordinator
