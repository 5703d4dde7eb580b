#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "agent/worker.h"

/// A worker whose leases say by the name of their kernel how they go.  `fake_worker broken` has no
/// device.
namespace headsplit::agent {
namespace {

WorkerAnswer run_fake(const Lease& lease) {
  const std::string& kernel = lease.point.kernel;
  if (kernel == "kill") std::raise(SIGKILL);
  if (kernel == "exit3") std::_Exit(3);
  if (kernel == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
  if (kernel == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(300));
  if (kernel == "throw") throw std::runtime_error("out of memory");
  if (kernel == "chatty") std::printf("a library says hello\n");
  std::fflush(stdout);
  if (kernel == "lost") return {failed_row(lease, "illegal address", true), true};
  Row row = failed_row(lease, "", false);
  row.status = Status::ok;
  row.time_us = 5;
  return row;
}

int serve(bool broken) {
  const int out_fd = take_stdout();
  WorkerGreeting greeting;
  if (broken) {
    greeting.error = "no GPU: driver too old";
  } else {
    greeting.device = DeviceInfo{.name = "fake", .memory_bytes = 1 << 30};
  }
  if (!write_line(out_fd, json_text(greeting)) || broken) return 1;
  return static_cast<int>(serve_leases(STDIN_FILENO, out_fd, run_fake));
}

}  // namespace
}  // namespace headsplit::agent

int main(int argc, char** argv) {
  return headsplit::agent::serve(argc > 1 && std::string(argv[1]) == "broken");
}
