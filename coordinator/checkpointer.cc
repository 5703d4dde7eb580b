#include "coordinator/checkpointer.h"

#include "core/log.h"

namespace headsplit::coordinator {

Checkpointer::Checkpointer(Database database) : database_(std::move(database)) {
  database_.take_over_checkpoints();
  thread_ = std::thread([this] { run(); });
}

Checkpointer::~Checkpointer() {
  {
    const std::lock_guard lock(mutex_);
    work_ = Work::ending;
  }
  changed_.notify_one();
  thread_.join();
}

void Checkpointer::begin() {
  {
    const std::lock_guard lock(mutex_);
    if (work_ != Work::none) return;
    work_ = Work::wanted;
  }
  changed_.notify_one();
}

bool Checkpointer::take_finished() {
  const std::lock_guard lock(mutex_);
  if (work_ != Work::finished) return false;
  work_ = Work::none;
  return true;
}

void Checkpointer::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return work_ == Work::wanted || work_ == Work::ending; });
    if (work_ == Work::ending) return;
    work_ = Work::at_work;
    lock.unlock();
    // What is in the log is durable; a disk that fails here fails the next commit, too.
    if (const auto done = database_.checkpoint(); !done) {
      log_line(LogLevel::warn, "store", "checkpoint_failed",
               log_field("reason", done.error().message));
    }
    lock.lock();
    if (work_ == Work::at_work) work_ = Work::finished;
  }
}

}  // namespace headsplit::coordinator
