#include "bench/running_coordinator.h"

#include <unistd.h>

#include <fstream>

#include "bench/stopwatch.h"

namespace headsplit::bench {

Result<RunningCoordinator> RunningCoordinator::start(const std::string& database,
                                                     const std::vector<std::string>& options) {
  ChildOptions child{.argv = {sibling_program("headsplit-coordinator"), "--listen", "127.0.0.1:0",
                              "--db", database},
                     .environment = {"HEADSPLIT_LOG=error"},
                     .pipe_stdout = true};
  child.argv.insert(child.argv.end(), options.begin(), options.end());
  const Stopwatch watch;
  ChildProcess process = TRY(ChildProcess::start(child));
  std::string line;
  for (char c = 0; ::read(process.stdout_fd(), &c, 1) == 1 && c != '\n';) line += c;
  const auto at = line.find("http://");
  if (at == std::string::npos) return fail(ErrorKind::io, "the coordinator does not start");
  cli::Server server{.url = line.substr(at)};
  if (!cli::http(server, "GET", "/api/sweeps")) return fail(ErrorKind::io, "it does not serve");
  return RunningCoordinator{std::move(process), std::move(server), watch.seconds()};
}

double RunningCoordinator::status_mib(const std::string& key) const {
  std::ifstream in(str("/proc/", process.pid(), "/status"));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(key)) return std::atof(line.c_str() + key.size()) / 1024;
  }
  return 0;
}

}  // namespace headsplit::bench
