#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/http_client.h"
#include "tests/dashboards/simulated_gpu.h"
#include "tests/e2e/command.h"

namespace headsplit::dashboards {

/// A real Prometheus that scrapes a real coordinator once a second, with the rules of dashboards/:
/// first a sweep that a real CPU agent measures, then one on simulated GPUs.
class WatchedSweep {
 public:
  /// Starts everything and waits for the CPU's sweep; fails the test when something does not start.
  WatchedSweep();
  ~WatchedSweep();

  const cli::Server& coordinator() const { return coordinator_; }
  const cli::Server& prometheus() const { return prometheus_; }
  const std::string& gpu_sweep() const { return gpu_sweep_; }

  /// The agent "gpu-leaving" goes away.
  void lose_an_agent() { leaving_.reset(); }
  /// Why an agent of ours ended, if one did.
  std::string failures() const;

  /// Samples of an instant query now, without those that are not numbers.  Fails the test when
  /// Prometheus cannot read it.
  json::array query(const std::string& expr) const;
  bool has_data(const std::string& expr) const { return !query(expr).empty(); }

 private:
  void start_coordinator();
  void start_prometheus();
  void measure_on_cpu();
  void start_gpu_sweep();
  std::string submit(const std::string& yaml, const std::string& backend);

  e2e::Scratch scratch_;
  cli::Server coordinator_;
  cli::Server prometheus_;
  std::string gpu_sweep_;
  std::vector<std::unique_ptr<e2e::Command>> programs_;
  std::vector<std::unique_ptr<SimulatedGpu>> gpus_;
  std::unique_ptr<SimulatedGpu> leaving_;
};

/// Asks until it is true, at most so long.
bool eventually(std::chrono::seconds limit, const std::function<bool()>& question);

}  // namespace headsplit::dashboards
