#include "tests/e2e/chaos.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <numeric>
#include <thread>

#include "agent/link.h"
#include "core/check.h"
#include "core/message.h"

namespace headsplit::e2e {
namespace {

using namespace std::chrono_literals;

constexpr int kFaultsARound = 4;
constexpr auto kEndLimit = 90s;

/// Points of a tenth of a second, so that something is always in work.
constexpr const char* kSweep =
    "name: chaos\n"
    "layouts: [{tp: 64}, {tp: 128}]\n"
    "axes: {batch: [1, 2, 3, 4, 5, 6, 7, 8], context: [64], l2: [warm]}\n"
    "measure: {min_time_ms: 60, max_noise: 0.000001, max_time_ms: 80, counters: false}\n"
    "limits: {attempts: 100, point_timeout_s: 20}\n";

SystemFaults* map_faults(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  CHECK(file >= 0 && ::ftruncate(file, sizeof(SystemFaults)) == 0);
  void* memory = ::mmap(nullptr, sizeof(SystemFaults), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  CHECK(memory != MAP_FAILED);
  return new (memory) SystemFaults;
}

std::vector<std::string> preloaded(const std::string& faults_file) {
  const std::string library = program("../lib/libfaulty_system.so");
  // A sanitizer's runtime must come first, and is linked into the program itself.
  return {"LD_PRELOAD=" + library, "HEADSPLIT_FAULTS=" + faults_file,
          "ASAN_OPTIONS=verify_asan_link_order=0"};
}

/// Rows that nobody asked for, 8 kB each.
Row unwanted_row(const std::string& sweep, const std::string& point_id) {
  Row row;
  row.sweep = sweep;
  row.point_id = point_id;
  row.epoch = 1;
  row.samples_us.assign(1000, 123.25);
  return row;
}

Task<> read_answers(agent::Link& link) {
  while (true) {
    const Result<std::string> answer = co_await link.receive();
    if (!answer) co_return answer.error();
  }
}

Task<> send_reports(agent::Link& link, Row row, std::int64_t count, std::int64_t& done) {
  const std::string text = message_text(AgentMessage(Report{std::move(row)}));
  for (; done < count; ++done) {
    const Result<> sent = co_await link.send(text);
    if (!sent) co_return sent;
  }
  co_return Result<>();
}

/// A stranger who sends one row again and again, and reads what is said to it.
Task<> send_rows(std::string url, std::string name, Row row, std::int64_t count,
                 std::int64_t& done) {
  auto link = co_await agent::Link::connect(agent::address_from(url).value(), "");
  if (!link) co_return link.error();
  Hello hello;
  hello.agent.name = std::move(name);
  hello.agent.backend = "none";
  const Result<> sent = co_await link.value()->send(message_text(AgentMessage(std::move(hello))));
  if (!sent) co_return sent;
  co_await net::this_coro::throw_if_cancelled(false);
  Nursery nursery(co_await net::this_coro::executor);
  nursery.start("", read_answers(*link.value()), Nursery::OnEnd::others_end);
  nursery.start("", send_reports(*link.value(), std::move(row), count, done),
                Nursery::OnEnd::others_end);
  co_return co_await nursery.join();
}

}  // namespace

ChaosRound::ChaosRound(std::uint64_t seed, const std::string& faults_file)
    : random_(seed),
      system_(map_faults(faults_file)),
      cluster_({"--heartbeat-s", "0.2", "--silence-limit-s", "1.2", "--drain-after", "1000"},
               preloaded(faults_file)) {
  const std::string& url = cluster_.server().url;
  relay_ = std::make_unique<Relay>(std::stoi(url.substr(url.rfind(':') + 1)));
  cluster_.set_agents_url(str("http://127.0.0.1:", relay_->port()));
  for (const char* name : {"a", "b", "c"}) agents_[name] = nullptr;
  keep_alive();
}

ChaosRound::~ChaosRound() { ::munmap(system_, sizeof(SystemFaults)); }

const std::vector<ChaosRound::Fault>& ChaosRound::all_faults() {
  static const std::vector<Fault> faults = {
      {"coordinator killed", &ChaosRound::kill_coordinator},
      {"coordinator ended", &ChaosRound::end_coordinator},
      {"coordinator stopped", &ChaosRound::stop_coordinator},
      {"agent killed", &ChaosRound::kill_agent},
      {"worker killed", &ChaosRound::kill_worker},
      {"agent stopped past its lease", &ChaosRound::stop_agent},
      {"worker stopped", &ChaosRound::stop_worker},
      {"disk full", &ChaosRound::fill_disk},
      {"disk read-only", &ChaosRound::make_disk_read_only},
      {"disk slow", &ChaosRound::slow_disk},
      {"disk of an agent full", &ChaosRound::fill_disk_of_agent},
      {"clock jumps", &ChaosRound::jump_clock},
      {"network half-open", &ChaosRound::freeze_network},
      {"network cut", &ChaosRound::cut_network},
      {"flood of rows", &ChaosRound::flood},
  };
  return faults;
}

std::vector<std::string> ChaosRound::fault_names() {
  std::vector<std::string> names;
  for (const Fault& fault : all_faults()) names.push_back(fault.name);
  return names;
}

// ---- Faults ----------------------------------------------------------------------------------

void ChaosRound::kill_coordinator() { cluster_.coordinator().child().signal(SIGKILL); }

void ChaosRound::end_coordinator() { cluster_.coordinator().child().signal(SIGTERM); }

void ChaosRound::stop_coordinator() {
  cluster_.coordinator().child().signal(SIGSTOP);
  pause_ms(100, 1500);
  cluster_.coordinator().child().signal(SIGCONT);
}

void ChaosRound::kill_agent() { agents_[some_agent()]->child().signal(SIGKILL); }

void ChaosRound::kill_worker() {
  for (const pid_t worker : children_of(agents_[some_agent()]->child().pid())) {
    ::kill(worker, SIGKILL);
  }
}

void ChaosRound::stop_agent() {
  const pid_t agent = agents_[some_agent()]->child().pid();
  ::kill(agent, SIGSTOP);
  pause_ms(1300, 2000);
  ::kill(agent, SIGCONT);
}

void ChaosRound::stop_worker() {
  const auto workers = children_of(agents_[some_agent()]->child().pid());
  for (const pid_t worker : workers) ::kill(worker, SIGSTOP);
  pause_ms(100, 1000);
  for (const pid_t worker : workers) ::kill(worker, SIGCONT);
}

void ChaosRound::fill_disk() { system_->write_errno = ENOSPC; }

void ChaosRound::make_disk_read_only() { system_->write_errno = EROFS; }

void ChaosRound::slow_disk() { system_->sync_delay_ms = 50 + static_cast<int>(below(400)); }

void ChaosRound::fill_disk_of_agent() {
  const pid_t agent = agents_[some_agent()]->child().pid();
  rlimit limit{};
  if (::prlimit(agent, RLIMIT_FSIZE, nullptr, &limit) != 0) return;
  const rlim_t before = std::exchange(limit.rlim_cur, 1);
  ::prlimit(agent, RLIMIT_FSIZE, &limit, nullptr);
  pause_ms(300, 1000);
  limit.rlim_cur = before;
  ::prlimit(agent, RLIMIT_FSIZE, &limit, nullptr);
}

void ChaosRound::jump_clock() {
  const std::int64_t day_s = 86400;
  system_->clock_offset_s = static_cast<std::int64_t>(below(800)) * day_s - 400 * day_s;
}

void ChaosRound::freeze_network() {
  relay_->freeze(true);
  pause_ms(200, 2500);
  relay_->freeze(false);
}

void ChaosRound::cut_network() { relay_->cut(); }

void ChaosRound::flood() {
  net::io_context context(1);
  std::int64_t sent = 0;
  net::co_spawn(context,
                send_rows(cluster_.server().url, "stranger", unwanted_row("x", "y"), 300, sent),
                [](std::exception_ptr, const Result<>&) {});
  context.run_for(2s);
}

// ---- The round -------------------------------------------------------------------------------

void ChaosRound::pause_ms(int least, int most) {
  const auto more = below(static_cast<std::size_t>(most - least + 1));
  std::this_thread::sleep_for(std::chrono::milliseconds(least + static_cast<int>(more)));
}

std::string ChaosRound::some_agent() {
  auto at = agents_.begin();
  std::advance(at, below(agents_.size()));
  return at->first;
}

void ChaosRound::restart_coordinator() {
  system_->write_errno = 0;
  cluster_.start_coordinator();
}

void ChaosRound::keep_alive() {
  if (cluster_.coordinator().child().ended()) restart_coordinator();
  for (auto& [name, agent] : agents_) {
    if (agent == nullptr || agent->child().ended()) {
      agent = &cluster_.start_agent(name, {"--threads", "1"});
    }
  }
}

/// What a client is shown is durable, and must stay.
void ChaosRound::look_at_rows() {
  const auto rows = cli::rows_of(cluster_.server(), sweep_);
  if (!rows) return;  // the coordinator is down just now
  for (const Row& row : *rows) {
    const auto [before, added] = seen_.emplace(row.point_id, row);
    const bool same = before->second.epoch == row.epoch && before->second.time_us == row.time_us &&
                      before->second.agent == row.agent;
    if (!same) broken_.push_back("P2: the row of point " + row.point_id + " has changed");
  }
}

void ChaosRound::break_something() {
  const Fault& fault = all_faults()[below(all_faults().size())];
  done_.push_back(fault.name);
  (this->*fault.apply)();
}

void ChaosRound::mend() { *system_ = SystemFaults(); }

std::vector<std::string> ChaosRound::run() {
  const auto submitted = cli::submit_sweep(cluster_.server(), kSweep, "chaos.yaml", 0, "cpu");
  if (!submitted) return {"the sweep is not taken: " + submitted.error().message};
  sweep_ = submitted->id;
  for (int i = 0; i < kFaultsARound; ++i) {
    pause_ms(20, 500);
    break_something();
    pause_ms(50, 300);
    look_at_rows();
    keep_alive();
  }
  mend();
  const auto ended = [&] {
    keep_alive();
    return cluster_.finished(sweep_);
  };
  if (!eventually(ended, kEndLimit)) broken_.push_back("P6: the sweep does not end");
  look_at_rows();
  check(broken_);
  return broken_;
}

void ChaosRound::check(std::vector<std::string>& broken) {
  const auto points = cluster_.points(sweep_);
  const auto rows = cluster_.rows(sweep_);
  if (rows.size() != points.size()) {
    broken.push_back(str("P3: ", rows.size(), " rows of ", points.size(), " points"));
  }
  for (const auto& [id, shown] : seen_) {
    const auto row = std::ranges::find(rows, id, &Row::point_id);
    if (row == rows.end()) broken.push_back("P1: the row of point " + id + " is lost");
  }
  for (const Row& row : rows) {
    const auto point = std::ranges::find(points, row.point_id, &coordinator::PointSummary::id);
    if (row.status != Status::ok) {
      broken.push_back("P3: point " + point->label + " failed: " + row.reason);
    }
    if (point->epoch != row.epoch) {
      broken.push_back(str("P7: point ", point->label, " was granted again after its row: epoch ",
                           point->epoch, ", row of ", row.epoch));
    }
  }
}

// ---- A flood on a slow disk ------------------------------------------------------------------

Flood::Flood(const std::string& faults_file)
    : system_(map_faults(faults_file)), cluster_({}, preloaded(faults_file)) {}

Flood::~Flood() { ::munmap(system_, sizeof(SystemFaults)); }

std::int64_t Flood::run(std::chrono::seconds duration) {
  system_->sync_delay_ms = 300;
  // Begun and cancelled twice, the epochs of the first time are stale: such rows are stored.
  std::string id;
  for (int i = 0; i < 2; ++i) {
    const auto begun = cli::submit_sweep(cluster_.server(), kSweep, "flood.yaml", 0, "cpu");
    EXPECT_TRUE(begun && cli::http(cluster_.server(), "DELETE", "/api/sweeps/" + begun->id));
    if (begun) id = begun->id;
    EXPECT_TRUE(eventually([&] { return cluster_.finished(id); }));
  }
  const Row row = unwanted_row(id, cluster_.points(id).at(0).id);
  net::io_context context(1);
  std::array<std::int64_t, 4> sent{};
  for (std::size_t i = 0; i < sent.size(); ++i) {
    net::co_spawn(context,
                  send_rows(cluster_.server().url, str("stranger-", i), row, 1'000'000, sent[i]),
                  [](std::exception_ptr, const Result<>&) {});
  }
  context.run_for(duration);
  system_->sync_delay_ms = 0;
  return std::accumulate(sent.begin(), sent.end(), std::int64_t{0});
}

bool Flood::served() const { return cli::http(cluster_.server(), "GET", "/healthz").has_value(); }

}  // namespace headsplit::e2e
