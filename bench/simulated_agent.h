#pragma once

#include <memory>
#include <string>

#include "agent/link.h"
#include "bench/stopwatch.h"
#include "core/message.h"

namespace headsplit::bench {

/// An agent that runs nothing: it joins, answers leases as its kind of agent does, and notes how
/// long acknowledgements take.
class SimulatedAgent {
 public:
  SimulatedAgent(std::string name, agent::CoordinatorAddress address)
      : name_(std::move(name)), address_(std::move(address)) {}
  virtual ~SimulatedAgent() = default;

  /// Until it is cancelled.
  Task<> run();

 protected:
  /// The row of a lease, 30 samples; sent after `pause`.
  virtual Task<> pause() { co_return Result<>(); }
  virtual Result<> note(const Ack& ack, double ack_ms) = 0;

 private:
  Task<> answer(Lease lease);

  std::string name_;
  agent::CoordinatorAddress address_;
  std::unique_ptr<agent::Link> link_;
  Stopwatch sent_;
};

}  // namespace headsplit::bench
