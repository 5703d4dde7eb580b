#include "tests/e2e/cluster.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace headsplit::e2e {
namespace {

/// Points of half a second: of launches so long that the most samples of a point (2,000) are not in
/// before, on a fast processor neither.
constexpr const char* kSlowSweep =
    "name: slow\n"
    "layouts: [{tp: 8}, {tp: 16}]\n"
    "axes: {batch: [1, 2], context: [1024], l2: [warm]}\n"
    "measure: {min_time_ms: 400, max_noise: 0.000001, max_time_ms: 500, counters: false}\n"
    "limits: {attempts: 3, point_timeout_s: 30}\n";

/// State letter and parent of a process, from /proc/PID/stat; '\0' when it is gone.
struct Stat {
  char state = '\0';
  pid_t parent = 0;
};

Stat stat_of(const std::filesystem::path& folder) {
  std::ifstream in(folder / "stat");
  std::string text;
  std::getline(in, text);
  const auto name_end = text.rfind(')');  // the name may hold anything
  Stat stat;
  if (name_end == std::string::npos) return stat;
  std::istringstream rest(text.substr(name_end + 1));
  rest >> stat.state >> stat.parent;
  return stat;
}

}  // namespace

Cluster::Cluster(std::vector<std::string> coordinator_options, std::vector<std::string> environment)
    : coordinator_options_(std::move(coordinator_options)), environment_(std::move(environment)) {
  start_coordinator();
}

void Cluster::start_coordinator() {
  std::vector<std::string> argv;
  if (!environment_.empty()) argv.push_back("/usr/bin/env");
  argv.insert(argv.end(), environment_.begin(), environment_.end());
  for (const std::string& word : {program("headsplit-coordinator"), std::string("--listen"),
                                  listen_, std::string("--db"), scratch_.path("rows.db")}) {
    argv.push_back(word);
  }
  argv.insert(argv.end(), coordinator_options_.begin(), coordinator_options_.end());
  coordinator_ = std::make_unique<Command>(scratch_, argv);
  const auto listens = [&] {
    return coordinator_->out().ends_with('\n') || coordinator_->child().ended();
  };
  ASSERT_TRUE(eventually(listens)) << coordinator_->err();
  const std::string line = coordinator_->out();
  const auto host = line.find("://127.0.0.1:");
  ASSERT_TRUE(line.starts_with("listening http") && host != std::string::npos)
      << line << coordinator_->err();
  const auto url = std::string("listening ").size();
  server_.url = line.substr(url, line.size() - url - 1);
  listen_ = line.substr(host + 3, line.size() - host - 4);
}

Command& Cluster::start_agent(const std::string& name, std::vector<std::string> options) {
  std::vector<std::string> argv = {program("headsplit-agent"),
                                   "--coordinator",
                                   agents_url_.empty() ? server_.url : agents_url_,
                                   "--backend",
                                   "cpu",
                                   "--name",
                                   name,
                                   "--spool",
                                   scratch_.path("spool")};
  argv.insert(argv.end(), options.begin(), options.end());
  agents_.push_back(std::make_unique<Command>(scratch_, argv));
  return *agents_.back();
}

std::string Cluster::submit_slow_sweep() {
  const auto view = cli::submit_sweep(server_, kSlowSweep, "slow.yaml", 0, "");
  if (view) return view->id;
  ADD_FAILURE() << view.error().message;
  return "";
}

coordinator::SweepView Cluster::sweep(const std::string& id) const {
  const auto view = cli::sweep_of(server_, id);
  return view ? view.value() : coordinator::SweepView{};
}

std::vector<coordinator::AgentView> Cluster::agents() const {
  const auto views = cli::agents_of(server_);
  return views ? views.value() : std::vector<coordinator::AgentView>();
}

std::vector<coordinator::PointSummary> Cluster::points(const std::string& id) const {
  return coordinator::StoreReader::open(scratch_.path("rows.db")).value()->points(id).value();
}

std::vector<Row> Cluster::rows(const std::string& id) const {
  const auto reader = coordinator::StoreReader::open(scratch_.path("rows.db"));
  return reader.value()->rows(coordinator::RowFilter{.sweep = id}).value();
}

bool Cluster::finished(const std::string& id) const {
  const auto view = sweep(id);
  return view.points > 0 && view.done() == view.points;
}

bool eventually(const std::function<bool()>& done, std::chrono::seconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const Stat stat = stat_of(entry.path());
    if (stat.parent == parent && stat.state != 'Z') children.push_back(std::stoi(name));
  }
  return children;
}

bool runs(pid_t pid) {
  const Stat stat = stat_of(std::filesystem::path("/proc") / std::to_string(pid));
  return stat.state != '\0' && stat.state != 'Z';
}

}  // namespace headsplit::e2e
