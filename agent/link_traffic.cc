#include "agent/link_traffic.h"

namespace headsplit::agent {

void LinkTraffic::note(int launches, Row& row) const {
  const auto end = device_.link_bytes();
  if (!begin_ || !end || launches < 1) return;
  row.counters["nvlink_data_tx_bytes"] = (end->sent - begin_->sent) / launches;
  row.counters["nvlink_data_rx_bytes"] = (end->received - begin_->received) / launches;
}

}  // namespace headsplit::agent
