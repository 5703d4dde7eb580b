#pragma once

#include "agent/device.h"
#include "core/row.h"

namespace headsplit::agent {

/// Counts what goes over a device's links to others between construction and `note`.
class LinkTraffic {
 public:
  explicit LinkTraffic(Device& device) : device_(device), begin_(device.link_bytes()) {}

  /// Puts the bytes of one of `launches` equal launches into the row's counters, as
  /// "nvlink_data_tx_bytes" and "nvlink_data_rx_bytes"; nothing where the device does not tell.
  void note(int launches, Row& row) const;

 private:
  Device& device_;
  std::optional<LinkBytes> begin_;
};

}  // namespace headsplit::agent
