#include "kernels/cpu/thread_pool.h"

#include <sched.h>

#include <algorithm>

#include "core/check.h"

namespace headsplit::kernels {

int available_threads() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

ThreadPool::ThreadPool(int threads) {
  CHECK(threads >= 1);
  for (int worker = 1; worker < threads; ++worker) {
    helpers_.emplace_back([this, worker] { help(worker); });
  }
}

ThreadPool::~ThreadPool() {
  stopping_ = true;
  ++generation_;
  generation_.notify_all();
}

void ThreadPool::for_each(int count, const std::function<void(int, int)>& body) {
  body_ = &body;
  count_ = count;
  next_index_ = 0;
  helpers_busy_ = size() - 1;
  ++generation_;
  generation_.notify_all();
  take_indices(0);
  for (int busy = helpers_busy_; busy > 0; busy = helpers_busy_) helpers_busy_.wait(busy);
}

void ThreadPool::help(int worker) {
  int seen = 0;
  while (true) {
    generation_.wait(seen);
    ++seen;  // one generation a call, and the call waits for every helper: none is skipped
    if (stopping_) return;
    take_indices(worker);
    if (--helpers_busy_ == 0) helpers_busy_.notify_one();
  }
}

void ThreadPool::take_indices(int worker) {
  for (int index = next_index_++; index < count_; index = next_index_++) (*body_)(index, worker);
}

}  // namespace headsplit::kernels
