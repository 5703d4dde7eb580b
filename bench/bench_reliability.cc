// What docs/reliability.md promises in figures: simulated schedules, a thousand agents, recovery
// after kill -9, and what a scan with wrong tokens gets.  Real processes on loopback, a real disk.

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <thread>

#include "agent/link.h"
#include "bench/stopwatch.h"
#include "cli/sweep_client.h"
#include "core/child_process.h"
#include "core/message.h"
#include "core/stats.h"
#include "tests/coordinator/simulation.h"

namespace headsplit::bench {
namespace {

using namespace coordinator;

constexpr int kAgents = 1000;
constexpr double kRowsPerS = 5000;
constexpr double kLoadS = 60;
constexpr double kResidentMibMax = 300;
constexpr double kAckP99MsMax = 100;
constexpr std::size_t kStoredRows = 1'000'000;
constexpr double kRecoveryMaxS = 3;

bool tell(bool reached, const std::string& what) {
  std::printf("%-7s %s\n", reached ? "reached" : "MISSED", what.c_str());
  std::fflush(stdout);
  return reached;
}

/// A folder of its own on the disk of the working directory: /tmp may be memory.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::current_path() / "bench_reliability-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// A coordinator that was started and serves.
struct Running {
  ChildProcess process;
  cli::Server server;
  double start_s = 0;
};

Result<Running> start(const std::string& database, std::vector<std::string> more = {}) {
  ChildOptions child{.argv = {sibling_program("headsplit-coordinator"), "--listen", "127.0.0.1:0",
                              "--db", database},
                     .environment = {"HEADSPLIT_LOG=error"},
                     .pipe_stdout = true};
  child.argv.insert(child.argv.end(), more.begin(), more.end());
  const Stopwatch watch;
  ChildProcess process = TRY(ChildProcess::start(child));
  std::string line;
  for (char c = 0; ::read(process.stdout_fd(), &c, 1) == 1 && c != '\n';) line += c;
  const auto at = line.find("http://");
  if (at == std::string::npos) return fail(ErrorKind::io, "the coordinator does not start");
  cli::Server server{.url = line.substr(at)};
  if (!cli::http(server, "GET", "/api/sweeps")) return fail(ErrorKind::io, "it does not serve");
  return Running{std::move(process), std::move(server), watch.seconds()};
}

double status_mib(pid_t process, const std::string& key) {
  std::ifstream in(str("/proc/", process, "/status"));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(key)) return std::atof(line.c_str() + key.size()) / 1024;
  }
  return 0;
}

// ---- Simulated schedules ---------------------------------------------------------------------

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// HEADSPLIT_SCHEDULES of them, from seed HEADSPLIT_SEED on.
bool schedules() {
  const std::uint64_t first = number_from_environment("HEADSPLIT_SEED", 1);
  const std::uint64_t count = number_from_environment("HEADSPLIT_SCHEDULES", 10'000);
  const auto plans = simulated_plans();
  int crashes = 0;
  int grants = 0;
  std::uint64_t broken = 0;
  const Stopwatch watch;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    for (const std::string& what : broken_by_schedule(seed, plans, crashes, grants)) {
      if (++broken <= 10) {
        std::printf("HEADSPLIT_SEED=%llu: %s\n", static_cast<unsigned long long>(seed),
                    what.c_str());
      }
    }
  }
  return tell(broken == 0,
              str(count, " schedules (", grants, " leases, ", crashes,
                  " starts of the coordinator): ", broken, " violations; ", watch.seconds(), " s"));
}

// ---- A thousand agents -----------------------------------------------------------------------

/// A sweep of 4,096 points: less than a second of the load.
std::string many_points(int index) {
  std::string contexts;
  for (int i = 1; i <= 32; ++i) contexts += str(i > 1 ? ", " : "", 16 * i);
  return str("name: load-", index, "\n") +
         "layouts: [{tp: 1}, {tp: 2}, {tp: 4}, {tp: 8}]\n"
         "axes: {batch: [1, 2, 3, 4], query_tokens: [1, 2], kv_dtype: [bf16, fp8], context: [" +
         contexts + "]}\nmeasure: {repeats: 2}\n";
}

/// Hands over sweep after sweep, so that some always wait.
class Submitter {
 public:
  explicit Submitter(cli::Server server) : server_(std::move(server)) {}

  Result<void> top_up() {
    std::int64_t pending = 0;
    for (const SweepView& sweep : TRY(cli::sweeps_of(server_))) pending += sweep.pending;
    for (; pending < 20'000; pending += 4096) {
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
class PacedAgent {
 public:
  PacedAgent(int index, agent::CoordinatorAddress address, Load& load)
      : name_(str("sim-", index)), address_(std::move(address)), load_(load) {
    const auto offset =
        std::chrono::microseconds(index * 1'000'000LL / static_cast<int>(kRowsPerS));
    due_ = std::chrono::steady_clock::now() + std::chrono::seconds(3) + offset;
  }

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
        Task<> answering = answer(grant->lease);
        done = co_await std::move(answering);
      } else if (const auto* ack = std::get_if<Ack>(&message.value())) {
        note(*ack);
      }
    }
    co_return done;
  }

 private:
  Task<> answer(Lease lease) {
    const auto now = std::chrono::steady_clock::now();
    if (now < due_) co_await sleep_for(due_ - now);
    due_ += std::chrono::microseconds(static_cast<int>(1e6 * kAgents / kRowsPerS));
    Report report;
    Row& row = report.row;
    row = row_of(lease.point);
    row.point_id = lease.point_id;
    row.epoch = lease.epoch;
    row.sweep = lease.sweep;
    row.agent = name_;
    row.status = Status::ok;
    row.samples_us.assign(30, 123.456);
    row.time_us = 123.456;
    sent_ = Stopwatch();
    co_return co_await link_->send(message_text(AgentMessage(std::move(report))));
  }

  void note(const Ack& ack) {
    if (ack.acceptance != Acceptance::accepted) ++load_.refused;
    if (!load_.counting) return;
    ++load_.rows;
    load_.ack_ms.push_back(sent_.seconds() * 1e3);
  }

  std::string name_;
  agent::CoordinatorAddress address_;
  Load& load_;
  std::unique_ptr<agent::Link> link_;
  std::chrono::steady_clock::time_point due_;
  Stopwatch sent_;
};

Task<> drive(agent::CoordinatorAddress address, Load& load, double duration_s) {
  std::vector<std::unique_ptr<PacedAgent>> agents;
  Nursery nursery(co_await net::this_coro::executor);
  for (int i = 0; i < kAgents; ++i) {
    agents.push_back(std::make_unique<PacedAgent>(i, address, load));
    nursery.start(str("sim-", i), agents.back()->run(), Nursery::OnEnd::others_end);
  }
  co_await sleep_for(seconds(5));  // all connected
  load.counting = true;
  co_await sleep_for(seconds(duration_s));
  load.counting = false;
  nursery.cancel();
  const Result<> ended = co_await nursery.join();
  co_return ended;
}

Result<bool> thousand_agents(double duration_s) {
  const Folder folder;
  Running coordinator = TRY(start(folder.file("rows.db")));
  Submitter submitter(coordinator.server);
  TRY(submitter.top_up());
  Load load;
  Result<> ended = fail(ErrorKind::io, "the event loop ended early");
  net::io_context context(1);
  net::co_spawn(context, drive(TRY(agent::address_from(coordinator.server.url)), load, duration_s),
                [&](std::exception_ptr thrown, Result<> outcome) {
                  ended = thrown ? Result<>(error_of(thrown)) : std::move(outcome);
                });
  std::size_t connected = 0;
  std::atomic<bool> ending = false;
  Result<void> submitted;
  std::thread submits([&] {
    for (int turn = 0; !ending && submitted; ++turn) {
      submitted = submitter.top_up();
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
  const double most_mib = status_mib(coordinator.process.pid(), "VmHWM:");
  coordinator.process.signal(SIGTERM);
  coordinator.process.wait(std::chrono::seconds(15));
  const double rows_per_s = static_cast<double>(load.rows) / duration_s;
  const double p50_ms = load.ack_ms.empty() ? 0 : quantile(load.ack_ms, 0.5);
  const double p99_ms = load.ack_ms.empty() ? 0 : quantile(load.ack_ms, 0.99);
  bool good = tell(connected == kAgents, str(connected, " agents connected at once"));
  good = tell(rows_per_s >= 0.99 * kRowsPerS && load.refused == 0,
              str(rows_per_s, " rows/s stored and acknowledged for ", duration_s, " s, ",
                  load.refused, " refused")) &&
         good;
  good =
      tell(most_mib < kResidentMibMax, str("resident memory at most ", most_mib, " MiB")) && good;
  return tell(p99_ms < kAckP99MsMax,
              str("report to acknowledgement p50 ", p50_ms, " ms, p99 ", p99_ms, " ms")) &&
         good;
}

// ---- Recovery --------------------------------------------------------------------------------

Plan plan_of(const std::string& name, int repeats) {
  Sweep sweep = sweep_from_yaml("name: " + name + "\naxes: {context: 1K}", "bench").value();
  sweep.measure.repeats = repeats;
  return make_plan(sweep, std::nullopt).value();
}

/// In a process of its own: stores the rows of ten sweeps and most of an eleventh, then is killed
/// in the middle of a commit.
void write_until_killed(const std::string& path, int ready) {
  const auto store = Store::open(path).value();
  std::size_t stored = 0;
  for (int sweep = 0; sweep <= 10; ++sweep) {
    const Plan plan = plan_of(str("s", sweep), sweep < 10 ? 100'000 : 10'000);
    std::promise<void> begun;
    store->begin_sweep(plan, "", [&](const Result<StoredSweep>&) { begun.set_value(); });
    begun.get_future().get();
    for (const PlannedPoint& planned : plan.points) {
      Row row = row_of(planned.point);
      row.epoch = 1;
      row.time_us = 100;
      row.samples_us.assign(30, 123.456);
      store->write(LeaseWrite{plan.id, planned.id, 1, "a"}, [](const Result<void>&) {});
      store->write(RowWrite{plan.id, std::move(row)}, [&](const Result<void>&) {
        if (++stored == kStoredRows + 5000) {
          [[maybe_unused]] const auto told = ::write(ready, "x", 1);
        }
      });
      while (store->queued() > 8192) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  ::pause();
}

Result<bool> recovery() {
  const Folder folder;
  const std::string path = folder.file("rows.db");
  int ends[2] = {};
  if (::pipe(ends) != 0) return fail(ErrorKind::io, "pipe");
  const pid_t child = ::fork();
  if (child == 0) write_until_killed(path, ends[1]);
  char told = 0;
  if (::read(ends[0], &told, 1) != 1) return fail(ErrorKind::io, "the writer failed");
  ::kill(child, SIGKILL);
  const double size_gib = static_cast<double>(std::filesystem::file_size(path)) / (1 << 30);
  Running coordinator = TRY(start(path));
  const auto sweeps = TRY(cli::sweeps_of(coordinator.server));
  std::int64_t rows = 0;
  for (const SweepView& sweep : sweeps) rows += sweep.done();
  const bool whole = rows >= static_cast<std::int64_t>(kStoredRows);
  return tell(whole && coordinator.start_s < kRecoveryMaxS,
              str("kill -9, then from start to serving ", coordinator.start_s, " s, with ", rows,
                  " rows found (", size_gib, " GiB)"));
}

// ---- A scan ----------------------------------------------------------------------------------

Result<bool> scan() {
  const Folder folder;
  const std::string right = "0123456789abcdef0123456789abcdef";
  std::ofstream(folder.file("token")) << right << "\n";
  Running coordinator = TRY(start(folder.file("rows.db"), {"--token-file", folder.file("token")}));
  cli::Server server = coordinator.server;
  // Turn by turn, so that what else the machine does falls on both alike.
  const auto request_us = [&](std::size_t right_bytes) -> Result<double> {
    server.token = right.substr(0, right_bytes) + std::string(right.size() - right_bytes, 'x');
    const Stopwatch watch;
    const auto reply = TRY(cli::http(server, "GET", "/api/sweeps"));
    if (reply.status != 401) return fail(ErrorKind::mismatch, "status ", reply.status);
    return watch.seconds() * 1e6;
  };
  for (int i = 0; i < 500; ++i) TRY(request_us(0));
  const double before_mib = status_mib(coordinator.process.pid(), "VmRSS:");
  std::vector<double> all_wrong;
  std::vector<double> almost_right;
  for (int i = 0; i < 2000; ++i) {
    all_wrong.push_back(TRY(request_us(0)));
    almost_right.push_back(TRY(request_us(right.size() - 1)));
  }
  const double all_wrong_us = quantile(all_wrong, 0.5);
  const double almost_right_us = quantile(almost_right, 0.5);
  const double after_mib = status_mib(coordinator.process.pid(), "VmRSS:");
  const double ratio = almost_right_us / all_wrong_us;
  const bool good = std::abs(ratio - 1) < 0.1 && after_mib - before_mib < 1;
  return tell(good, str("4500 requests with wrong tokens: all 401; median ", all_wrong_us,
                        " us when no byte is right, ", almost_right_us,
                        " us when only the last is wrong; memory grew by ", after_mib - before_mib,
                        " MiB"));
}

bool part(const char* name, const std::function<Result<bool>()>& run) {
  std::printf("-- %s\n", name);
  std::fflush(stdout);
  const Result<bool> reached = run();
  if (!reached) std::printf("FAILED  %s\n", reached.error().message.c_str());
  return reached && *reached;
}

int run_all(int argc, char** argv) {
  const auto wanted = [&](const char* name) {
    return argc < 2 || std::any_of(argv + 1, argv + argc,
                                   [&](const char* word) { return std::string(word) == name; });
  };
  bool good = true;
  if (wanted("schedules")) good = part("schedules", [] { return schedules(); }) && good;
  if (wanted("agents")) good = part("agents", [] { return thousand_agents(kLoadS); }) && good;
  if (wanted("recovery")) good = part("recovery", recovery) && good;
  if (wanted("scan")) good = part("scan", scan) && good;
  return good ? 0 : 1;
}

}  // namespace
}  // namespace headsplit::bench

int main(int argc, char** argv) { return headsplit::bench::run_all(argc, argv); }
