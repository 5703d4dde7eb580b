#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "core/message.h"

namespace headsplit::dashboards {

/// How a simulated agent differs from a healthy one.
struct SimulatedGpuOptions {
  std::string coordinator;  ///< http://HOST:PORT
  std::string name;
  double point_s = 0.2;             ///< what it takes for a point
  bool counters = true;             ///< else rows say that counters are closed to this user
  int throttled_every = 0;          ///< every n-th row is marked as throttled; 0: none
  bool repeats_stale_rows = false;  ///< sends each row once more as of an older attempt
};

/// A test's stand-in for an agent with a GPU, for what a machine without one cannot show: it speaks
/// the real protocol (core/message.h) over a real connection, says that it is a simulation, and
/// answers leases with figures of a made-up device (800 TFLOP/s, 4 TB/s) by the roofline.
class SimulatedGpu {
 public:
  explicit SimulatedGpu(SimulatedGpuOptions options);
  /// Leaves: closes its connection.
  ~SimulatedGpu();
  SimulatedGpu(const SimulatedGpu&) = delete;
  SimulatedGpu& operator=(const SimulatedGpu&) = delete;

  int rows_sent() const { return rows_sent_; }
  /// Why it ended, once it has; empty while it runs and when it was told to.
  std::string failure() const;

 private:
  void run();

  SimulatedGpuOptions options_;
  std::atomic<int> rows_sent_ = 0;
  std::atomic<bool> leaving_ = false;
  std::atomic<bool> ended_ = false;
  std::string failure_;
  std::thread thread_;
};

}  // namespace headsplit::dashboards
