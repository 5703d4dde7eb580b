#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <optional>
#include <string>
#include <vector>

#include "agent/device.h"
#include "core/async.h"
#include "core/ceilings.h"
#include "core/child_process.h"
#include "core/lease.h"
#include "core/row.h"

namespace headsplit::agent {

/// How a worker is started.
struct WorkerCommand {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  ///< "KEY=value" beside our own
};

/// What a worker says to the lease of a rank: one or the other.
struct RankAnswer {
  std::optional<RankContact> prepared;
  std::optional<Row> row;
};

/// The supervisor's half of the pipe to one worker process.  Errors say how the worker ended
/// ("worker killed by signal 9 (Killed)"), or that it did not answer in time; after an error it is
/// of no more use: `end()` it and start another.  One exchange at a time.
class WorkerProcess {
 public:
  /// Fails: io (the program cannot be started).
  static Result<std::unique_ptr<WorkerProcess>> start(const net::any_io_executor& executor,
                                                      const WorkerCommand& command);

  /// The first line of the worker.  Fails: also config, with the worker's own reason.
  Task<DeviceInfo> greeting(Duration limit);

  /// What the greeting said of the device's ceilings.
  const std::optional<Ceilings>& ceilings() const { return ceilings_; }

  /// Begins a rank of a gang.  Gives where the other ranks reach it, once it is prepared; or, when
  /// it came to nothing, its row.
  Task<RankAnswer> prepare(const Lease& lease, Duration limit);
  /// The row of a rank that is prepared.
  Task<Row> go(std::vector<RankContact> contacts, Duration limit);

  /// The row of a lease.
  Task<Row> run(const Lease& lease, Duration limit);

  /// Whether it said with its last row that it ends: `end()` it then.
  bool ends() const { return ends_; }

  bool alive() { return !child_.ended(); }
  pid_t pid() const { return child_.pid(); }

  /// SIGKILL to the whole process group: an exchange in progress ends with an error.
  void kill() const { child_.signal(SIGKILL); }

  /// Kills it and waits until it is gone; false when the kernel does not let it go in 10 s.
  net::awaitable<bool> end();

 private:
  WorkerProcess(const net::any_io_executor& executor, ChildProcess child);

  Task<std::string> read_line();
  Task<std::string> exchange(std::string line);
  /// Fails: protocol.  Notes whether the worker ends.
  Result<Row> row_from(const std::string& line);
  Task<std::string> answer_to(std::string line, Duration limit);
  net::awaitable<Error> explained(Error error);

  ChildProcess child_;
  net::posix::stream_descriptor to_worker_;
  net::posix::stream_descriptor from_worker_;
  std::string received_;
  std::optional<Ceilings> ceilings_;
  bool ends_ = false;
};

}  // namespace headsplit::agent
