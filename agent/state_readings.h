#pragma once

#include <future>
#include <optional>

#include "agent/device.h"
#include "core/row.h"

namespace headsplit::agent {

/// Clocks, power and temperature of the device while a point is sampled.  A reading takes some
/// milliseconds, on a busy host ten times that: it goes on in a thread of its own beside the
/// launches, and these do not wait for it.
class StateReadings {
 public:
  explicit StateReadings(Device& device) : device_(device) {}

  /// Begins a reading, unless one is under way.
  void begin();
  /// Puts what has been read meanwhile into the row.
  void collect(Row& row);
  /// Nothing has been read yet.
  bool empty() const { return !first_; }
  /// Waits for the reading under way; without any so far, reads now.
  void finish(Row& row);

 private:
  void note(const DeviceState& state, Row& row);

  Device& device_;
  std::future<DeviceState> under_way_;
  std::optional<DeviceState> first_;
};

}  // namespace headsplit::agent
