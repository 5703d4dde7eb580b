#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "coordinator/sqlite.h"

namespace headsplit::coordinator {

/// Moves the write-ahead log into the database file on a thread and a connection of its own, so
/// that commits need not wait for it: a checkpoint of 16 MB takes a fifth of a second and more.
/// What is written meanwhile is left, so that the log begins anew only after a checkpoint by the
/// writer itself, which then is short.
class Checkpointer {
 public:
  /// database: a connection to the file for this alone.
  explicit Checkpointer(Database database);
  /// Waits for the checkpoint at work.
  ~Checkpointer();

  /// Has one made, unless one is at work.
  void begin();
  /// True once after each.
  bool take_finished();

 private:
  enum class Work { none, wanted, at_work, finished, ending };
  void run();

  Database database_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Work work_ = Work::none;
  std::thread thread_;
};

}  // namespace headsplit::coordinator
