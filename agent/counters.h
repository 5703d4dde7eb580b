#pragma once

#include <functional>
#include <memory>

#include "agent/counter_table.h"
#include "agent/device.h"

namespace headsplit::agent {

/// One thing to be counted.
struct CountRequest {
  /// The launch: enqueues work of the current context; need not wait for it.
  std::function<Result<void>()> launch;
  /// Runs before each pass, outside what is counted: put the caches into their state.  Evict by
  /// reading: what a memset leaves dirty is written back inside the counted range.
  std::function<Result<void>()> before;
  /// Collect the detail set too: several passes, one launch each.
  bool detail = false;
  /// Whether the launch may be repeated.  A rank of a gang may not: its collectives wait for peers
  /// who launch once.
  bool repeatable = true;
};

/// Hardware counters of the calling thread's current CUDA context, through CUPTI's range profiler:
/// user ranges, user replay, one pass for the standard set.  Only one may exist on a GPU: CUPTI
/// lets a second one open.  Not thread-safe; must go before the context does.
///
/// Time inside a counted range is longer than outside: take times from runs of their own.
class Counters {
 public:
  /// Fails: cuda or io, with the reason for people: no driver, CUPTI missing or too old, another
  /// profiler at work, an unsupported device, or a standard set that does not fit one pass.
  static Result<Counters> open();

  Counters(Counters&&) noexcept;
  Counters& operator=(Counters&&) noexcept;
  ~Counters();

  /// Programming the hardware for the next launch goes on in the background after `open` and after
  /// each `count`.  Wait for it to be done: call this before taking times.
  void settle();

  /// Counters of one launch.  What could not be counted is absent, with a reason in the counts:
  /// counters that are closed to this user show here.
  /// Fails: as the launch fails; config (the detail set of something not repeatable).
  Result<Counts> count(const CountRequest& request);

 private:
  struct Session;
  explicit Counters(std::unique_ptr<Session> session);
  std::unique_ptr<Session> session_;
};

}  // namespace headsplit::agent
