// How many rows a second a coordinator dispatches and stores durably, with many agents: real
// processes, real WebSockets on loopback, a real disk.  The agents answer each lease at once.

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <filesystem>
#include <map>

#include "agent/link.h"
#include "bench/stopwatch.h"
#include "cli/sweep_client.h"
#include "core/child_process.h"
#include "core/message.h"
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

/// A folder of its own on the disk of the working directory: /tmp may be memory.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::current_path() / "bench_coordinator-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

double median_fsync_ms(const Folder& folder) {
  const int fd = ::open(folder.file("fsync").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
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

/// A row as a GPU agent would send it, 30 samples.
Row plausible_row(const Lease& lease, const std::string& agent) {
  Row row = row_of(lease.point);
  row.point_id = lease.point_id;
  row.epoch = lease.epoch;
  row.sweep = lease.sweep;
  row.seed = lease.seed;
  row.agent = agent;
  row.local_heads = lease.problem.local_heads;
  row.rank_batch = lease.problem.batch;
  row.rank_context = lease.problem.context;
  row.status = Status::ok;
  row.samples_us.assign(30, 123.456);
  row.time_us = 123.456;
  row.flops = 1e9;
  row.hbm_bytes_model = 1e6;
  return row;
}

/// One simulated agent: answers every lease at once, until cancelled.
class SimulatedAgent {
 public:
  SimulatedAgent(std::string name, agent::CoordinatorAddress address, Tally& tally)
      : name_(std::move(name)), address_(std::move(address)), tally_(tally) {}

  Task<> run() {
    auto connected = co_await agent::Link::connect(address_, "");
    if (!connected) co_return connected.error();
    link_ = std::move(connected).value();
    Hello hello;
    hello.agent.name = name_;
    hello.agent.backend = "cpu";
    hello.agent.memory_bytes = std::int64_t{1} << 44;
    Result<> done = co_await link_->send(message_text(AgentMessage(std::move(hello))));
    while (done) {
      const Result<std::string> text = co_await link_->receive();
      if (!text) co_return text.error();
      const Result<CoordinatorMessage> message = coordinator_message_from(text.value());
      if (!message) co_return message.error();
      if (const auto* grant = std::get_if<Grant>(&message.value())) {
        Report report;
        report.row = plausible_row(grant->lease, name_);
        sent_ = Stopwatch();
        done = co_await link_->send(message_text(AgentMessage(std::move(report))));
      } else {
        done = note(message.value());
      }
    }
    co_return done;
  }

 private:
  Result<> note(const CoordinatorMessage& message) {
    const auto* ack = std::get_if<Ack>(&message);
    if (ack == nullptr) return {};
    if (ack->acceptance != Acceptance::accepted) {
      return fail(ErrorKind::protocol, "row not accepted: ", ack->reason);
    }
    if (tally_.counting) {
      ++tally_.rows;
      tally_.ack_ms.push_back(sent_.seconds() * 1e3);
    }
    return {};
  }

  std::string name_;
  agent::CoordinatorAddress address_;
  Tally& tally_;
  std::unique_ptr<agent::Link> link_;
  Stopwatch sent_;
};

Task<double> drive(const Options& options, agent::CoordinatorAddress address, Tally& tally) {
  std::vector<std::unique_ptr<SimulatedAgent>> agents;
  Nursery nursery(co_await net::this_coro::executor);
  for (int i = 0; i < options.agents; ++i) {
    agents.push_back(std::make_unique<SimulatedAgent>(str("sim-", i), address, tally));
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

/// "listening URL" of a coordinator that was just started.
Result<std::string> url_of(const ChildProcess& coordinator) {
  std::string line;
  for (char c = 0; ::read(coordinator.stdout_fd(), &c, 1) == 1 && c != '\n';) line += c;
  const auto at = line.find("http://");
  if (at == std::string::npos) return fail(ErrorKind::io, "the coordinator does not start");
  return line.substr(at);
}

Result<Measured> measure(const Options& options) {
  const Folder folder;
  Measured measured{.agents = options.agents, .fsync_ms = median_fsync_ms(folder)};
  ChildOptions child{.argv = {sibling_program("headsplit-coordinator"), "--listen", "127.0.0.1:0",
                              "--db", folder.file("rows.db")},
                     .environment = {"HEADSPLIT_LOG=error"},
                     .pipe_stdout = true};
  ChildProcess coordinator = TRY(ChildProcess::start(child));
  const cli::Server server{.url = TRY(url_of(coordinator))};
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
  coordinator.signal(SIGTERM);
  if (!coordinator.wait(std::chrono::seconds(15))) {
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
