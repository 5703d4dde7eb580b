#pragma once

#include <future>
#include <memory>
#include <vector>

#include "agent/counter_host.h"
#include "agent/counters.h"

namespace headsplit::agent {

/// The few driver calls we need; the driver is never linked, so that programs start without it.
struct DriverApi {
  decltype(&cuCtxGetCurrent) current_context = nullptr;
  decltype(&cuCtxSetCurrent) make_current = nullptr;
  decltype(&cuCtxGetDevice) current_device = nullptr;
  decltype(&cuCtxSynchronize) synchronize = nullptr;
};

/// Fails: io (no driver).
Result<DriverApi> load_driver();

/// The range profiler, enabled on one context and set up for one plan, from creation to
/// destruction: CUPTI ignores a second configuration silently, so each plan has a session of its
/// own, and only one exists at a time.
class CounterSession {
 public:
  /// `api` must have been initialised; `plan` must outlive the session.  Fails: cuda.
  static Result<CounterSession> open(const CuptiApi& api, const DriverApi& driver,
                                     CUcontext context, const CounterPlan& plan);

  CounterSession(CounterSession&&) = default;
  CounterSession& operator=(CounterSession&&) = delete;
  ~CounterSession();

  /// Program the hardware for the next pass on a thread of its own: 35 ms on an H200, 150 ms the
  /// first time, in which the caller may do other things, but not take times.
  void arm();

  /// Wait for `arm` to be done.
  void settle();

  /// Counter data of one launch: as many passes as the plan needs, one range in each.  `before` and
  /// `launch` must wait for what they enqueue.
  /// Fails: as they fail; cuda (also when CUPTI dropped the range).
  Result<std::vector<std::uint8_t>> run(const CountRequest& request);

 private:
  struct Disable {
    decltype(CuptiApi::disable) disable;
    void operator()(CUpti_RangeProfiler_Object* profiler) const;
  };
  using Handle = std::unique_ptr<CUpti_RangeProfiler_Object, Disable>;
  CounterSession(const CuptiApi& api, const DriverApi& driver, CUcontext context,
                 const CounterPlan& plan, Handle profiler)
      : api_(api),
        driver_(driver),
        context_(context),
        plan_(&plan),
        profiler_(std::move(profiler)) {}

  Result<void> configure();
  Result<void> clear_data();
  CUptiResult start() const;
  CUptiResult finish_start();
  Result<bool> run_pass(const CountRequest& request);
  Result<void> launch_in_range(const CountRequest& request);
  Result<void> decode();

  CuptiApi api_;
  DriverApi driver_;
  CUcontext context_ = nullptr;
  const CounterPlan* plan_ = nullptr;
  std::vector<std::uint8_t> counter_data_;  ///< the profiler fills it: outlives it
  Handle profiler_;
  std::future<CUptiResult> arming_;  ///< valid from `arm` until the pass that uses it
};

}  // namespace headsplit::agent
