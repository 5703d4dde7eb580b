#include "agent/worker.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "core/log.h"

namespace headsplit::agent {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

/// Lines of a descriptor, which stays open.
class LineReader {
 public:
  explicit LineReader(int fd) : file_(::fdopen(::dup(fd), "r")) {}
  ~LineReader() { std::free(line_); }
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// The next line without its end, or nothing at the end of the input.
  std::optional<std::string> next() {
    if (!file_) return std::nullopt;
    const ssize_t length = ::getline(&line_, &capacity_, file_.get());
    if (length < 0) return std::nullopt;
    std::string text(line_, static_cast<std::size_t>(length));
    if (text.ends_with('\n')) text.pop_back();
    return text;
  }

 private:
  std::unique_ptr<std::FILE, CloseFile> file_;
  char* line_ = nullptr;
  std::size_t capacity_ = 0;
};

WorkerAnswer answer_or_exception(const RunLease& run, const RunRank& run_rank, const Lease& lease,
                                 const AwaitGo& await_go) {
  try {
    if (lease.gang.size == 0) return run(lease);
    if (run_rank) return run_rank(lease, await_go);
    return failed_row(lease, "this worker takes no rank of a gang", false);
  } catch (const std::exception& error) {
    return failed_row(lease, error.what(), false);
  }
}

std::string answer_text(const WorkerAnswer& answer) {
  json::value line = to_json(answer.row);
  if (answer.worker_ends) line.get_object()[kWorkerEndsKey] = true;
  return json::serialize(line);
}

}  // namespace

Row failed_row(const Lease& lease, const std::string& reason, bool retryable) {
  Row row = row_of(lease.point);
  row.point_id = lease.point_id;
  row.epoch = lease.epoch;
  row.sweep = lease.sweep;
  row.seed = lease.seed;
  row.local_heads = lease.problem.local_heads;
  row.rank_batch = lease.problem.batch;
  row.rank_context = lease.problem.context;
  row.rank = lease.gang.rank;
  row.status = Status::failed;
  row.reason = reason;
  row.retryable = retryable;
  return row;
}

int take_stdout() {
  const int ours = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  return ours;
}

Result<void> write_line(int fd, const std::string& text) {
  const std::string line = text + "\n";
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t count = ::write(fd, line.data() + written, line.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(ErrorKind::io, "write: ", std::strerror(errno));
    written += static_cast<std::size_t>(count);
  }
  return {};
}

ExitCode serve_leases(int in_fd, int out_fd, const RunLease& run, const RunRank& run_rank) {
  LineReader lines(in_fd);
  const AwaitGo await_go = [&](const RankContact& own) -> Result<std::vector<RankContact>> {
    TRY(write_line(out_fd, json_text(WorkerPrepared{own})));
    const auto line = lines.next();
    if (!line) return fail(ErrorKind::cancelled, "the supervisor is gone");
    return TRY(value_from_text<WorkerGo>(*line)).contacts;
  };
  for (int number = 1; auto line = lines.next(); ++number) {
    if (line->empty()) continue;
    const auto lease = value_from_text<Lease>(*line);
    if (!lease) {
      log_line(LogLevel::error, "worker", "no lease",
               log_field("line", str(number)) + log_field("reason", lease.error().message));
      return ExitCode::usage;
    }
    const WorkerAnswer answer = answer_or_exception(run, run_rank, lease.value(), await_go);
    if (!write_line(out_fd, answer_text(answer)) || answer.worker_ends) return ExitCode::failed;
  }
  return ExitCode::ok;
}

}  // namespace headsplit::agent
