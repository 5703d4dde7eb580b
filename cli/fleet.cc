#include "cli/fleet.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "cli/gpu_count.h"

namespace headsplit::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kStartLimit = 15s;
constexpr auto kStopLimit = 5s;

/// One line from a pipe, or what there is when the time is up or the other end closes.
std::string read_line(int fd, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::string line;
  while (!line.ends_with('\n')) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd ready{fd, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) break;
    char c = 0;
    if (::read(fd, &c, 1) != 1) break;
    line += c;
  }
  return line;
}

std::string last_line_of(const std::string& path) {
  std::ifstream in(path);
  std::string last;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

}  // namespace

Result<Fleet> Fleet::start(const FleetOptions& options) {
  Fleet fleet(options);
  TRY(fleet.start_coordinator());
  TRY(fleet.start_agents());
  return fleet;
}

Error Fleet::ended_badly(const std::string& what, const std::string& how) const {
  std::string line = last_line_of(options_.log_file);
  const std::string own_prefix = "headsplit-coordinator: ";
  if (line.starts_with(own_prefix)) line.erase(0, own_prefix.size());
  if (line.empty()) line = str(what, " ended with ", how);
  // The coordinator's own usage errors (port, database) keep their meaning as exit code 2.
  return fail(how == "exit 2" ? ErrorKind::config : ErrorKind::io, line);
}

Result<void> Fleet::start_coordinator() {
  ChildOptions child{.argv = {sibling_program("headsplit-coordinator"), "--listen", "127.0.0.1:0",
                              "--db", options_.database},
                     .pipe_stdout = true,
                     .stderr_file = options_.log_file};
  coordinator_.push_back(TRY(ChildProcess::start(child)));
  const std::string line = read_line(coordinator_[0].stdout_fd(), kStartLimit);
  const auto at = line.find("http://");
  if (at == std::string::npos) {
    const auto ending = coordinator_[0].wait(1s);
    return ended_badly("the coordinator", ending.value_or("no answer"));
  }
  server_.url = line.substr(at, line.find_first_of(" \n", at) - at);
  return {};
}

Result<ChildProcess> Fleet::start_agent(int index) const {
  ChildOptions child{
      .argv = {sibling_program("headsplit-agent"), "--coordinator", server_.url, "--backend",
               options_.backend, "--device", str(index), "--spool", options_.database + ".spool"},
      .stderr_file = options_.log_file};
  if (options_.threads_an_agent > 0) {
    child.argv.insert(child.argv.end(), {"--threads", str(options_.threads_an_agent)});
  }
  return ChildProcess::start(child);
}

Result<void> Fleet::start_agents() {
  int count = options_.agents;
  if (count == 0 && options_.backend != "cpu") count = visible_gpu_count();
  for (int index = 0; index < std::max(count, 1); ++index) {
    agents_.push_back(TRY(start_agent(index)));
  }
  return {};
}

Result<void> Fleet::keep_alive() {
  if (const auto ending = coordinator_[0].ended()) return ended_badly("the coordinator", *ending);
  for (std::size_t index = 0; index < agents_.size(); ++index) {
    const auto ending = agents_[index].ended();
    if (!ending) continue;
    // Exit 2 is the agent's own refusal (no such backend): starting it again changes nothing.
    if (agents_[index].exit_status() == 2 || restarts_left_-- <= 0) {
      return ended_badly("an agent", *ending);
    }
    agents_[index] = TRY(start_agent(static_cast<int>(index)));
  }
  return {};
}

void Fleet::stop() {
  for (const auto& agent : agents_) agent.signal(SIGTERM);
  for (auto& agent : agents_) agent.wait(kStopLimit);
  agents_.clear();
  if (coordinator_.empty()) return;
  coordinator_[0].signal(SIGTERM);
  coordinator_[0].wait(kStopLimit);
  coordinator_.clear();
}

}  // namespace headsplit::cli
