#include "agent/state_readings.h"

#include <chrono>

namespace headsplit::agent {

void StateReadings::begin() {
  if (under_way_.valid()) return;
  under_way_ = std::async(std::launch::async, [device = &device_] { return device->state(); });
}

void StateReadings::collect(Row& row) {
  if (!under_way_.valid()) return;
  const bool read = under_way_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  if (read) note(under_way_.get(), row);
}

void StateReadings::finish(Row& row) {
  if (under_way_.valid()) return note(under_way_.get(), row);
  if (!first_) note(device_.state(), row);
}

void StateReadings::note(const DeviceState& state, Row& row) {
  row.sm_clock_mhz = state.sm_clock_mhz;
  row.memory_clock_mhz = state.memory_clock_mhz;
  row.power_w = state.power_w;
  row.temperature_c = state.temperature_c;
  // One throttled moment marks the whole row: samples are flagged, never thrown away.
  row.throttled = row.throttled.value_or(false) || state.throttled.value_or(false);
  if (!state.throttled && !row.throttled.value()) row.throttled.reset();
  if (state.throttled.value_or(false)) row.throttle_reason = state.throttle_reason;
  if (!first_) first_ = state;
  if (first_->energy_j && state.energy_j) row.energy_j = *state.energy_j - *first_->energy_j;
}

}  // namespace headsplit::agent
