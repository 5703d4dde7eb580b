#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "agent/ceilings.h"
#include "agent/identity.h"
#include "agent/run_point.h"
#include "agent/run_rank.h"
#include "agent/worker.h"
#include "core/log.h"

namespace headsplit::agent {
namespace {

/// Keeps this process, and the threads it will make, to its share of the processors.
Result<void> keep_to_share(int threads, int local_rank) {
  cpu_set_t allowed_set;
  if (::sched_getaffinity(0, sizeof allowed_set, &allowed_set) != 0) {
    return fail(ErrorKind::io, "sched_getaffinity: ", std::strerror(errno));
  }
  std::vector<int> allowed;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, &allowed_set)) allowed.push_back(processor);
  }
  cpu_set_t share;
  CPU_ZERO(&share);
  for (const int processor : processor_share(allowed, threads, local_rank)) {
    CPU_SET(processor, &share);
  }
  if (::sched_setaffinity(0, sizeof share, &share) != 0) {
    return fail(ErrorKind::io, "sched_setaffinity: ", std::strerror(errno));
  }
  return {};
}

Result<std::unique_ptr<Device>> prepared_device(const WorkerOptions& options) {
  if (options.threads > 0) TRY(keep_to_share(options.threads, options.local_rank));
  return open_device(options.backend);
}

/// What the device reaches at best, or a note of why that could not be measured: rows are worth
/// having without a roof.
Ceilings ceilings_of(Device& device) {
  const char* known = std::getenv(kKnownCeilingsVariable);
  using std::chrono::system_clock;
  const double now_s =
      std::chrono::duration<double>(system_clock::now().time_since_epoch()).count();
  if (auto ceilings = still_good(known != nullptr ? known : "", device.info(), now_s)) {
    return *ceilings;
  }
  auto ceilings = measure_ceilings(device);
  if (ceilings) return std::move(ceilings).value();
  log_line(LogLevel::warn, "worker", "no ceilings", log_field("reason", ceilings.error().message));
  return {.reason = ceilings.error().message};
}

/// A failed launch can leave every later one failing: then this process is of no more use, and the
/// point is worth another try in a new one.
WorkerAnswer answer_of(Device& device, Row row) {
  if (row.status != Status::failed || device.usable()) return row;
  row.retryable = true;
  row.reason += "; the worker's GPU context is lost";
  return {std::move(row), true};
}

/// Where leases come from.  Fails: io (names the file).
Result<int> input_of(const WorkerOptions& options) {
  if (options.lease_file.empty()) return STDIN_FILENO;
  const int fd = ::open(options.lease_file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(ErrorKind::io, options.lease_file, ": ", std::strerror(errno));
  return fd;
}

}  // namespace

ExitCode run_worker(const WorkerOptions& options) {
  const int out_fd = take_stdout();
  const auto in_fd = input_of(options);
  if (!in_fd) {
    log_line(LogLevel::error, "worker", "no input", log_field("reason", in_fd.error().message));
    return ExitCode::usage;
  }
  const auto device = prepared_device(options);
  WorkerGreeting greeting;
  Ceilings ceilings;
  if (device) {
    greeting.device = device.value()->info();
    ceilings = ceilings_of(*device.value());
    greeting.ceilings = ceilings;
  } else {
    greeting.error = device.error().message;
    log_line(LogLevel::error, "worker", "no device", log_field("reason", greeting.error));
  }
  if (options.lease_file.empty() && !write_line(out_fd, json_text(greeting))) {
    return ExitCode::failed;
  }
  if (!device) return ExitCode::failed;
  ProblemMemory memory;
  Device& measured = *device.value();
  std::unique_ptr<RankDevice> ranks;
  return serve_leases(
      in_fd.value(), out_fd,
      [&](const Lease& lease) {
        return answer_of(measured, run_point(measured, ceilings, lease, memory));
      },
      [&](const Lease& lease, const AwaitGo& await_go) {
        return answer_of(measured, run_rank(measured, ranks, ceilings, lease, await_go));
      });
}

}  // namespace headsplit::agent
