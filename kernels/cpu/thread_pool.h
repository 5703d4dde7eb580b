#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace headsplit::kernels {

/// Processors that this process may run on.
int available_threads();

/// Threads that wait for work between launches.  The caller is one of them, so a pool of one
/// thread starts none.  Not thread-safe: one caller.
class ThreadPool {
 public:
  /// threads: at least 1.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;  // its threads point at it
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(helpers_.size()) + 1; }

  /// body(index, worker) for each index in 0..count-1, on all threads: each takes the next index
  /// when it is free.  worker: 0..size()-1, one call at a time for each.  Returns when all are
  /// done.  body must not throw.
  void for_each(int count, const std::function<void(int index, int worker)>& body);

 private:
  void help(int worker);
  void take_indices(int worker);

  const std::function<void(int, int)>* body_ = nullptr;
  int count_ = 0;
  std::atomic<int> next_index_{0};
  std::atomic<int> helpers_busy_{0};
  std::atomic<int> generation_{0};
  std::atomic<bool> stopping_{false};
  std::vector<std::jthread> helpers_;
};

}  // namespace headsplit::kernels
