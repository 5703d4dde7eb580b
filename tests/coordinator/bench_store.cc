#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <future>
#include <random>

#include "coordinator/store.h"

/// Rows a second that the store alone makes durable, with 64 agents that each wait for the
/// acknowledgement of their row before they send the next: a lease and a row a point, as the
/// coordinator writes them.
namespace headsplit::coordinator {
namespace {

constexpr int kAgents = 64;
constexpr std::size_t kPoints = 20'000;
constexpr int kSamples = 200;  // per row: a usual row of a measured point
constexpr double kTargetRowsPerS = 2000;

Plan plan_of_points() {
  Sweep sweep = sweep_from_yaml("name: bench\naxes: {context: 1K}", "bench").value();
  sweep.measure.repeats = kPoints;
  return make_plan(sweep, std::nullopt).value();
}

/// Drives the store from its own completions: each agent's next point follows its last.
class Agents {
 public:
  Agents(Store& store, const Plan& plan) : store_(store), plan_(plan) {
    std::mt19937_64 random(1);
    std::normal_distribution<> time_us(100, 5);
    for (int i = 0; i < kSamples; ++i) samples_us_.push_back(time_us(random));
  }

  double run_s() {
    const auto start = std::chrono::steady_clock::now();
    for (int agent = 0; agent < kAgents; ++agent) next();
    all_stored_.get_future().get();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  void next() {
    const std::size_t at = next_.fetch_add(1);
    if (at >= plan_.points.size()) return;
    const PlannedPoint& planned = plan_.points[at];
    store_.write(LeaseWrite{plan_.id, planned.id, 1, "agent"}, [](Result<void>) {});
    Row row = row_of(planned.point);
    row.epoch = 1;
    row.status = Status::ok;
    row.time_us = 100;
    row.samples_us = samples_us_;
    store_.write(RowWrite{plan_.id, std::move(row)}, [this](Result<void> stored) {
      if (!stored) std::fprintf(stderr, "%s\n", stored.error().message.c_str());
      if (++stored_ == plan_.points.size()) return all_stored_.set_value();
      next();
    });
  }

  Store& store_;
  const Plan& plan_;
  std::vector<double> samples_us_;
  std::atomic<std::size_t> next_{0};
  std::size_t stored_ = 0;
  std::promise<void> all_stored_;
};

int bench() {
  const auto path = std::filesystem::temp_directory_path() / str("bench_store_", ::getpid(), ".db");
  double rows_per_s = 0;
  {
    const auto store = Store::open(path.string()).value();
    const Plan plan = plan_of_points();
    std::promise<void> begun;
    const auto start = std::chrono::steady_clock::now();
    store->begin_sweep(plan, "", [&](Result<StoredSweep>) { begun.set_value(); });
    begun.get_future().get();
    const std::chrono::duration<double> plan_s = std::chrono::steady_clock::now() - start;
    std::printf("plan of %zu points stored in %.2f s\n", plan.points.size(), plan_s.count());
    const double run_s = Agents(*store, plan).run_s();
    rows_per_s = static_cast<double>(kPoints) / run_s;
  }
  std::printf("%d agents: %.0f rows/s durably stored, each with its lease (target %.0f): %s\n",
              kAgents, rows_per_s, kTargetRowsPerS,
              rows_per_s >= kTargetRowsPerS ? "reached" : "MISSED");
  std::filesystem::remove(path);
  return rows_per_s >= kTargetRowsPerS ? 0 : 1;
}

}  // namespace
}  // namespace headsplit::coordinator

int main() { return headsplit::coordinator::bench(); }
