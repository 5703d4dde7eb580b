#include <signal.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <thread>

#include "bench/reliability.h"
#include "bench/running_coordinator.h"
#include "bench/scratch_folder.h"
#include "bench/simulated_agent.h"
#include "cli/sweep_client.h"
#include "core/stats.h"

namespace headsplit::bench {
namespace {

using coordinator::SweepView;

constexpr int kAgents = 1000;
constexpr double kRowsPerS = 5000;
constexpr double kLoadS = 60;
constexpr double kResidentMibMax = 300;
constexpr double kAckP99MsMax = 100;

/// Points that wait when the load begins: more than it needs.
constexpr std::int64_t kQueued = 327'680;
constexpr std::int64_t kPointsOfASweep = 40'960;

std::string many_points(int index) {
  std::string contexts;
  for (int i = 1; i <= 320; ++i) contexts += str(i > 1 ? ", " : "", 16 * i);
  return str("name: load-", index, "\n") +
         "layouts: [{tp: 1}, {tp: 2}, {tp: 4}, {tp: 8}]\n"
         "axes: {batch: [1, 2, 3, 4], query_tokens: [1, 2], kv_dtype: [bf16, fp8], context: [" +
         contexts + "]}\nmeasure: {repeats: 2}\n";
}

/// Hands over sweep after sweep, so that some always wait.
class Submitter {
 public:
  explicit Submitter(cli::Server server) : server_(std::move(server)) {}

  /// Until so many points wait.
  Result<void> top_up(std::int64_t least) {
    std::int64_t pending = 0;
    for (const SweepView& sweep : TRY(cli::sweeps_of(server_))) pending += sweep.pending;
    for (; pending < least; pending += kPointsOfASweep) {
      TRY(cli::submit_sweep(server_, many_points(++count_), "load.yaml", 0, ""));
    }
    return {};
  }

 private:
  cli::Server server_;
  int count_ = 0;
};

struct Load {
  std::int64_t rows = 0;
  std::int64_t refused = 0;
  bool counting = false;
  std::vector<double> ack_ms;
};

/// Answers each lease a fifth of a second after the last one, so that all agents together send the
/// rows that are wanted a second.
class PacedAgent final : public SimulatedAgent {
 public:
  PacedAgent(int index, agent::CoordinatorAddress address, Load& load)
      : SimulatedAgent(str("sim-", index), std::move(address)), load_(load) {
    const auto offset =
        std::chrono::microseconds(index * 1'000'000LL / static_cast<int>(kRowsPerS));
    due_ = std::chrono::steady_clock::now() + std::chrono::seconds(3) + offset;
  }

 private:
  Task<> pause() override {
    const auto now = std::chrono::steady_clock::now();
    if (now < due_) co_await sleep_for(due_ - now);
    due_ += std::chrono::microseconds(static_cast<int>(1e6 * kAgents / kRowsPerS));
    co_return Result<>();
  }

  Result<> note(const Ack& ack, double ack_ms) override {
    if (ack.acceptance != Acceptance::accepted) ++load_.refused;
    if (!load_.counting) return {};
    ++load_.rows;
    load_.ack_ms.push_back(ack_ms);
    return {};
  }

  Load& load_;
  std::chrono::steady_clock::time_point due_;
};

Task<> drive(agent::CoordinatorAddress address, Load& load) {
  std::vector<std::unique_ptr<PacedAgent>> agents;
  Nursery nursery(co_await net::this_coro::executor);
  for (int i = 0; i < kAgents; ++i) {
    agents.push_back(std::make_unique<PacedAgent>(i, address, load));
    nursery.start(str("sim-", i), agents.back()->run(), Nursery::OnEnd::others_end);
  }
  co_await sleep_for(seconds(5));  // all connected
  load.counting = true;
  co_await sleep_for(seconds(kLoadS));
  load.counting = false;
  nursery.cancel();
  const Result<> ended = co_await nursery.join();
  co_return ended;
}

}  // namespace

Result<bool> thousand_agents() {
  const ScratchFolder folder = TRY(ScratchFolder::make(std::filesystem::current_path()));
  RunningCoordinator coordinator = TRY(RunningCoordinator::start(folder / "rows.db"));
  Submitter submitter(coordinator.server);
  TRY(submitter.top_up(kQueued));
  Load load;
  Result<> ended = fail(ErrorKind::io, "the event loop ended early");
  net::io_context context(1);
  net::co_spawn(context, drive(TRY(agent::address_from(coordinator.server.url)), load),
                [&](std::exception_ptr thrown, Result<> outcome) {
                  ended = thrown ? Result<>(error_of(thrown)) : std::move(outcome);
                });
  std::size_t connected = 0;
  std::atomic<bool> ending = false;
  Result<void> submitted;
  std::thread submits([&] {
    for (int turn = 0; !ending && submitted; ++turn) {
      submitted = submitter.top_up(kAgents);
      if (turn == 60) {
        const auto agents = cli::agents_of(coordinator.server);
        connected = agents ? agents->size() : 0;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
  });
  context.run();
  ending = true;
  submits.join();
  TRY(submitted);
  TRY(ended);
  const double most_mib = coordinator.status_mib("VmHWM:");
  coordinator.process.signal(SIGTERM);
  coordinator.process.wait(std::chrono::seconds(15));
  const double rows_per_s = static_cast<double>(load.rows) / kLoadS;
  const double p50_ms = load.ack_ms.empty() ? 0 : quantile(load.ack_ms, 0.5);
  const double p99_ms = load.ack_ms.empty() ? 0 : quantile(load.ack_ms, 0.99);
  bool good = tell(connected == kAgents, str(connected, " agents connected at once"));
  good = tell(rows_per_s >= 0.99 * kRowsPerS && load.refused == 0,
              str(rows_per_s, " rows/s stored and acknowledged for ", kLoadS, " s, ", load.refused,
                  " refused")) &&
         good;
  good =
      tell(most_mib < kResidentMibMax, str("resident memory at most ", most_mib, " MiB")) && good;
  return tell(p99_ms < kAckP99MsMax,
              str("report to acknowledgement p50 ", p50_ms, " ms, p99 ", p99_ms, " ms")) &&
         good;
}

}  // namespace headsplit::bench
