#pragma once

#include <memory>
#include <vector>

#include "agent/counter_host.h"
#include "agent/counters.h"

namespace headsplit::agent {

/// The few driver calls we need; the driver is never linked, so that programs start without it.
struct DriverApi {
  decltype(&cuCtxGetCurrent) current_context = nullptr;
  decltype(&cuCtxGetDevice) current_device = nullptr;
  decltype(&cuCtxSynchronize) synchronize = nullptr;
};

/// Fails: io (no driver).
Result<DriverApi> load_driver();

/// The range profiler, enabled on one context from creation to destruction.
class CounterSession {
 public:
  /// `api` must have been initialised.  Fails: cuda.
  static Result<CounterSession> open(const CuptiApi& api, const DriverApi& driver,
                                     CUcontext context);

  /// Values of one launch: as many passes as the plan needs, one range in each.
  /// Fails: as `before` or `launch` fail; cuda (also when CUPTI dropped the range).
  Result<std::vector<CounterValue>> run(const CounterHost& host, const CounterPlan& plan,
                                        const CountRequest& request);

 private:
  struct Disable {
    decltype(CuptiApi::disable) disable;
    void operator()(CUpti_RangeProfiler_Object* profiler) const;
  };
  using Handle = std::unique_ptr<CUpti_RangeProfiler_Object, Disable>;
  CounterSession(const CuptiApi& api, const DriverApi& driver, Handle profiler)
      : api_(api), driver_(driver), profiler_(std::move(profiler)) {}

  Result<void> configure(const CounterPlan& plan);
  Result<bool> run_pass(const CountRequest& request);
  Result<void> launch_in_range(const CountRequest& request);
  Result<void> decode();
  Result<void> wait() const;

  CuptiApi api_;
  DriverApi driver_;
  Handle profiler_;
  std::vector<std::uint8_t> counter_data_;  ///< filled by the profiler: must not move while it runs
};

}  // namespace headsplit::agent
