#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/device.h"
#include "core/ceilings.h"
#include "core/exit_code.h"
#include "core/lease.h"
#include "core/row.h"

/// The worker's half of the pipe: a line of JSON each way.  First line out: WorkerGreeting; then
/// for each lease that comes in, one row goes out.  End of input ends the worker.
namespace headsplit::agent {

/// First line of a worker: its device, or why it has none.
struct WorkerGreeting {
  std::optional<DeviceInfo> device;
  std::optional<Ceilings> ceilings;
  std::string error;

  bool operator==(const WorkerGreeting&) const = default;
};
BOOST_DESCRIBE_STRUCT(WorkerGreeting, (), (device, ceilings, error))

/// Key beside the fields of a row: this worker ends now and must be replaced.
constexpr const char* kWorkerEndsKey = "worker_ends";

/// What a worker says to a lease.
struct WorkerAnswer {
  WorkerAnswer(Row answer, bool ends = false) : row(std::move(answer)), worker_ends(ends) {}

  Row row;
  bool worker_ends = false;  ///< its device can no longer be used by this process
};

/// Measures one lease; blocks.
using RunLease = std::function<WorkerAnswer(const Lease&)>;

/// How a rank of a gang says that it is prepared, and where the others reach it; gives the contacts
/// of all ranks when all are.  Blocks.  Fails: cancelled (the supervisor is gone), protocol.
using AwaitGo = std::function<Result<std::vector<RankContact>>(const RankContact&)>;

/// Measures one rank of a gang; blocks.
using RunRank = std::function<WorkerAnswer(const Lease&, const AwaitGo&)>;

/// First answer to the lease of a rank; the row follows after a line with WorkerGo.
struct WorkerPrepared {
  RankContact prepared;
};
BOOST_DESCRIBE_STRUCT(WorkerPrepared, (), (prepared))

/// To a prepared rank: begin.
struct WorkerGo {
  std::vector<RankContact> contacts;
};
BOOST_DESCRIBE_STRUCT(WorkerGo, (), (contacts))

/// A row for a lease that came to nothing.
Row failed_row(const Lease& lease, const std::string& reason, bool retryable);

/// Standard output for the caller alone: the descriptor returned.  What libraries print from here
/// on goes to standard error, so it cannot corrupt the protocol.
int take_stdout();

/// Fails: io (the other end is gone).
Result<void> write_line(int fd, const std::string& text);

/// Serves leases from `in_fd`, empty lines skipped, rows to `out_fd`, until the input ends.  A rank
/// of a gang is run by `run_rank`.  `usage` when a line is no lease (says which line on stderr). An
/// exception of either becomes a failed row; `failed` after an answer that says that the worker
/// ends.
ExitCode serve_leases(int in_fd, int out_fd, const RunLease& run, const RunRank& run_rank = {});

/// How the worker program is started.
struct WorkerOptions {
  BackendChoice backend = BackendChoice::automatic;
  int threads = 0;         ///< processors to keep to; 0 = all
  int local_rank = 0;      ///< which share of the processors
  std::string lease_file;  ///< leases from here, and no greeting; empty = from standard input
};

/// The worker program.
ExitCode run_worker(const WorkerOptions& options);

}  // namespace headsplit::agent
