// How many rows a second a coordinator dispatches and stores durably, with many agents: real
// processes, real WebSockets on loopback, a real disk.  The agents answer each lease at once.

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <memory>

#include "bench/running_coordinator.h"
#include "bench/scratch_folder.h"
#include "bench/simulated_agent.h"
#include "bench/stopwatch.h"
#include "cli/sweep_client.h"
#include "core/stats.h"

namespace headsplit::bench {
namespace {

constexpr double kTargetRowsPerS = 2000;

struct Options {
  int agents = 64;
  double seconds = 5;
  bool json = false;
};

struct Measured {
  int agents = 0;
  double seconds = 0;
  std::int64_t rows = 0;
  double rows_per_s = 0;
  double target_rows_per_s = kTargetRowsPerS;
  double ack_p50_ms = 0;
  double ack_p99_ms = 0;
  double fsync_ms = 0;  ///< one small append on the same disk, median
};
BOOST_DESCRIBE_STRUCT(Measured, (),
                      (agents, seconds, rows, rows_per_s, target_rows_per_s, ack_p50_ms, ack_p99_ms,
                       fsync_ms))

/// 51,200 points: more than a fast run can use up.
std::string many_points() {
  std::string contexts;
  for (int i = 1; i <= 64; ++i) contexts += str(i > 1 ? ", " : "", 64 * i);
  return "name: bench\nlayouts: [{tp: 1}, {tp: 2}, {tp: 4}, {tp: 8}]\n"
         "axes: {batch: [1, 2, 3, 4, 5], query_tokens: [1, 2], kv_dtype: [bf16, fp8], context: [" +
         contexts + "]}\nmeasure: {repeats: 10}\n";
}

double median_fsync_ms(const ScratchFolder& folder) {
  const int fd = ::open((folder / "fsync").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const std::array<char, 4096> page = {};
  std::vector<double> samples_ms;
  for (int i = 0; i < 20 && fd >= 0; ++i) {
    const Stopwatch watch;
    if (::write(fd, page.data(), page.size()) < 0 || ::fsync(fd) != 0) break;
    samples_ms.push_back(watch.seconds() * 1e3);
  }
  if (fd >= 0) ::close(fd);
  return samples_ms.empty() ? 0 : quantile(samples_ms, 0.5);
}

/// What all agents have seen together.
struct Tally {
  bool counting = false;
  std::int64_t rows = 0;
  std::vector<double> ack_ms;
  std::vector<std::string> errors;
};

/// Answers every lease at once.
class EagerAgent final : public SimulatedAgent {
 public:
  EagerAgent(std::string name, agent::CoordinatorAddress address, Tally& tally)
      : SimulatedAgent(std::move(name), std::move(address)), tally_(tally) {}

 private:
  Result<> note(const Ack& ack, double ack_ms) override {
    if (ack.acceptance != Acceptance::accepted) {
      return fail(ErrorKind::protocol, "row not accepted: ", ack.reason);
    }
    if (tally_.counting) {
      ++tally_.rows;
      tally_.ack_ms.push_back(ack_ms);
    }
    return {};
  }

  Tally& tally_;
};

Task<double> drive(const Options& options, agent::CoordinatorAddress address, Tally& tally) {
  std::vector<std::unique_ptr<EagerAgent>> agents;
  Nursery nursery(co_await net::this_coro::executor);
  for (int i = 0; i < options.agents; ++i) {
    agents.push_back(std::make_unique<EagerAgent>(str("sim-", i), address, tally));
    nursery.start(str("sim-", i), agents.back()->run(), Nursery::OnEnd::others_end);
  }
  co_await sleep_for(seconds(1));  // all connected, caches warm
  tally.counting = true;
  const Stopwatch watch;
  co_await sleep_for(seconds(options.seconds));
  const double counted_s = watch.seconds();
  tally.counting = false;
  nursery.cancel();
  const Result<> ended = co_await nursery.join();
  if (!ended) co_return ended.error();
  co_return counted_s;
}

Result<Measured> measure(const Options& options) {
  const ScratchFolder folder = TRY(ScratchFolder::make(std::filesystem::current_path()));
  Measured measured{.agents = options.agents, .fsync_ms = median_fsync_ms(folder)};
  RunningCoordinator coordinator = TRY(RunningCoordinator::start(folder / "rows.db"));
  const cli::Server& server = coordinator.server;
  TRY(cli::submit_sweep(server, many_points(), "bench.yaml", 0, ""));
  const auto address = TRY(agent::address_from(server.url));
  Tally tally;
  Result<double> counted_s = fail(ErrorKind::io, "the event loop ended early");
  net::io_context context(1);
  net::co_spawn(context, drive(options, address, tally),
                [&](std::exception_ptr thrown, Result<double> outcome) {
                  counted_s = thrown ? Result<double>(error_of(thrown)) : std::move(outcome);
                });
  context.run();
  measured.seconds = TRY(std::move(counted_s));
  measured.rows = tally.rows;
  measured.rows_per_s = static_cast<double>(tally.rows) / measured.seconds;
  if (tally.rows > 0) {
    measured.ack_p50_ms = quantile(tally.ack_ms, 0.5);
    measured.ack_p99_ms = quantile(tally.ack_ms, 0.99);
  }
  coordinator.process.signal(SIGTERM);
  if (!coordinator.process.wait(std::chrono::seconds(15))) {
    return fail(ErrorKind::io, "the coordinator does not end");
  }
  return measured;
}

int run(const Options& options) {
  const auto measured = measure(options);
  if (!measured) {
    std::fprintf(stderr, "bench_coordinator: %s\n", measured.error().message.c_str());
    return 1;
  }
  const bool reached = measured->rows_per_s >= kTargetRowsPerS;
  if (options.json) {
    std::printf("%s\n", json_text(measured.value()).c_str());
  } else {
    std::printf("%d agents: %.0f rows/s dispatched and stored durably (target %.0f: %s)\n",
                measured->agents, measured->rows_per_s, kTargetRowsPerS,
                reached ? "reached" : "MISSED");
    std::printf(
        "  %lld rows in %.1f s; report to acknowledgement p50 %.1f ms, p99 %.1f ms; "
        "fsync here %.2f ms\n",
        static_cast<long long>(measured->rows), measured->seconds, measured->ack_p50_ms,
        measured->ack_p99_ms, measured->fsync_ms);
  }
  return reached ? 0 : 1;
}

}  // namespace
}  // namespace headsplit::bench

int main(int argc, char** argv) {
  headsplit::bench::Options options;
  CLI::App app("Rows a second through a coordinator", "bench_coordinator");
  app.add_option("--agents", options.agents, "Simulated agents")->capture_default_str();
  app.add_option("--seconds", options.seconds, "How long to count")->capture_default_str();
  app.add_flag("--json", options.json, "One line of JSON");
  CLI11_PARSE(app, argc, argv);
  return headsplit::bench::run(options);
}
