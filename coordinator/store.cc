#include "coordinator/store.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <iterator>
#include <mutex>
#include <thread>

#include "coordinator/checkpointer.h"
#include "coordinator/database_file.h"
#include "coordinator/schema.h"
#include "coordinator/sqlite.h"
#include "coordinator/store_tables.h"
#include "core/log.h"

namespace headsplit::coordinator {
namespace {

constexpr int kBusyTimeoutMs = 30'000;  // another process may hold the lock for a while
constexpr std::size_t kBatchMax = 4096;
constexpr int kCheckpointPages = 1024;  // 4 MB of WAL: a checkpoint costs two more syncs
/// Above this the writer waits for a whole checkpoint: the disk does not keep up.
constexpr int kLogPagesMax = 32 * kCheckpointPages;

/// One unit of a transaction: it applies whole or not at all.
struct Job {
  std::function<Result<void>(StoreTables&)> apply;
  Store::Done done;
};

/// The disk failed under us: nothing that follows can be trusted to be stored.
bool is_fatal(const Result<void>& result) {
  return !result && result.error().kind == ErrorKind::io;
}

}  // namespace

/// The writer thread and its queue.
class Store::Writer {
 public:
  Writer(DatabaseFile file, Database database, Database second)
      : file_(std::move(file)), database_(std::move(database)), checkpointer_(std::move(second)) {}

  Result<void> start() {
    database_.take_over_checkpoints();
    tables_ = TRY(StoreTables::open(database_));
    begin_job_ = TRY(database_.prepare("SAVEPOINT job"));
    end_job_ = TRY(database_.prepare("RELEASE job"));
    thread_ = std::thread([this] { work(); });
    return {};
  }

  ~Writer() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
    checkpointer_.reset();
    tables_.reset();
    begin_job_.reset();
    end_job_.reset();
    // At rest the file stands alone, and can be read in a folder that cannot be written.
    if (const auto left = database_.execute("PRAGMA journal_mode = DELETE"); !left) {
      log_line(LogLevel::debug, "store", "wal_kept", log_field("reason", left.error().message));
    }
  }

  void submit(std::vector<Job> jobs) {
    queued_.fetch_add(jobs.size(), std::memory_order_relaxed);
    {
      const std::lock_guard lock(mutex_);
      std::ranges::move(jobs, std::back_inserter(jobs_));
    }
    wake_.notify_one();
  }
  void submit(Job job) {
    std::vector<Job> jobs;
    jobs.push_back(std::move(job));
    submit(std::move(jobs));
  }

  std::size_t queued() const { return queued_.load(std::memory_order_relaxed); }

 private:
  void work() {
    for (;;) {
      std::vector<Job> batch = take();
      if (batch.empty()) return;
      std::vector<Result<void>> results = commit(batch);
      for (std::size_t i = 0; i < batch.size(); ++i) {
        queued_.fetch_sub(1, std::memory_order_relaxed);
        batch[i].done(std::move(results[i]));
      }
      if (!broken_) shorten_log();
    }
  }

  /// Most of the log is moved beside the commits; the rest, and a log that grows too long, here.
  void shorten_log() {
    const int pages = database_.log_pages();
    if (checkpointer_->take_finished() || pages > kLogPagesMax) {
      // All of it is durable where it is; a disk that fails here fails the next commit, too.
      if (const auto done = database_.checkpoint(); !done) {
        log_line(LogLevel::warn, "store", "checkpoint_failed",
                 log_field("reason", done.error().message));
      }
    } else if (pages > kCheckpointPages) {
      checkpointer_->begin();
    }
  }

  /// Waits for jobs.  What comes while a transaction syncs becomes the next one: group commit
  /// without a timer.  Empty: the end.
  std::vector<Job> take() {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    const std::size_t count = std::min(jobs_.size(), kBatchMax);
    const auto end = jobs_.begin() + static_cast<std::ptrdiff_t>(count);
    std::vector<Job> batch(std::make_move_iterator(jobs_.begin()), std::make_move_iterator(end));
    jobs_.erase(jobs_.begin(), end);
    return batch;
  }

  std::vector<Result<void>> commit(const std::vector<Job>& batch) {
    std::vector<Result<void>> results;
    if (!broken_) {
      if (const auto done = transaction(batch, results); is_fatal(done)) broken_ = done.error();
    }
    if (broken_) results.assign(batch.size(), Result<void>(*broken_));
    return results;
  }

  Result<void> transaction(const std::vector<Job>& batch, std::vector<Result<void>>& results) {
    TRY(file_.check_exists());
    TRY(database_.execute("BEGIN IMMEDIATE"));
    for (const Job& job : batch) {
      results.push_back(apply(job));
      if (is_fatal(results.back())) return roll_back(results.back().error());
    }
    const auto committed = database_.execute("COMMIT");
    if (!committed) return roll_back(committed.error());
    return {};
  }

  Result<void> apply(const Job& job) {
    TRY(begin_job_->run());
    Result<void> result = job.apply(*tables_);
    if (is_fatal(result)) return result;
    if (!result) {
      tables_->forget();
      TRY(database_.execute("ROLLBACK TO job"));
    }
    TRY(end_job_->run());
    return result;
  }

  Error roll_back(const Error& error) {
    const auto undone = database_.in_transaction() ? database_.execute("ROLLBACK") : Result<void>();
    return undone ? error : within_context(undone.error().message, error);
  }

  DatabaseFile file_;  // before the database: its lock must be given up last
  Database database_;
  std::optional<Checkpointer> checkpointer_;
  std::optional<StoreTables> tables_;
  std::optional<Statement> begin_job_;
  std::optional<Statement> end_job_;
  std::optional<Error> broken_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> jobs_;
  bool stopping_ = false;
  std::atomic<std::size_t> queued_{0};
  std::thread thread_;
};

Store::Store(std::unique_ptr<Writer> writer) : writer_(std::move(writer)) {}
Store::~Store() = default;

Result<std::unique_ptr<Store>> Store::open(const std::string& path) {
  DatabaseFile file = TRY(DatabaseFile::lock(path));
  TRY(check_header(path));
  Database database = TRY(Database::open(path, OpenMode::read_write, kBusyTimeoutMs));
  TRY(check_identity(database, true));
  TRY(check_integrity(database));
  const std::string journal = TRY(database.text("PRAGMA journal_mode = WAL"));
  if (journal != "wal") {
    return fail(ErrorKind::io, path, ": cannot be put into WAL mode (stays '", journal, "')");
  }
  TRY(database.execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON"));
  TRY(migrate(database, migrations()));
  Database second = TRY(Database::open(path, OpenMode::read_write, kBusyTimeoutMs));
  TRY(second.execute("PRAGMA synchronous = FULL"));
  auto writer = std::make_unique<Writer>(std::move(file), std::move(database), std::move(second));
  TRY(writer->start());
  return std::unique_ptr<Store>(new Store(std::move(writer)));
}

void Store::write(StoreWrite record, Done done) {
  std::vector<Write> records;
  records.push_back({std::move(record), std::move(done)});
  write(std::move(records));
}

void Store::write(std::vector<Write> records) {
  std::vector<Job> jobs;
  jobs.reserve(records.size());
  for (Write& write : records) {
    jobs.push_back({[record = std::move(write.record)](StoreTables& tables) {
                      return std::visit([&](const auto& body) { return tables.apply(body); },
                                        record);
                    },
                    std::move(write.done)});
  }
  writer_->submit(std::move(jobs));
}

void Store::begin_sweep(Plan plan, std::string backend, SweepDone done) {
  const auto result = std::make_shared<std::optional<StoredSweep>>();
  auto apply = [plan = std::make_shared<const Plan>(std::move(plan)), backend = std::move(backend),
                result](StoreTables& tables) -> Result<void> {
    *result = TRY(tables.begin_sweep(plan, backend));
    return {};
  };
  writer_->submit({std::move(apply), [done = std::move(done), result](Result<void> stored) {
                     if (!stored) return done(stored.error());
                     done(std::move(**result));
                   }});
}

Result<RestoredSweeps> Store::restore() {
  std::promise<Result<void>> stored;
  RestoredSweeps sweeps;
  writer_->submit({[&](StoreTables& tables) -> Result<void> {
                     sweeps = TRY(tables.restore());
                     return {};
                   },
                   [&](Result<void> result) { stored.set_value(std::move(result)); }});
  TRY(stored.get_future().get());
  return sweeps;
}

std::size_t Store::queued() const { return writer_->queued(); }

}  // namespace headsplit::coordinator
