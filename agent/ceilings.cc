#include "agent/ceilings.h"

#include <chrono>

namespace headsplit::agent {
namespace {

/// Longer ago the machine may have become another one: hotter, or with other clocks.
constexpr double kGoodForSeconds = 600;

}  // namespace

Result<Ceilings> measure_ceilings(Device& device, CeilingSizes sizes) {
  using std::chrono::duration;
  const auto start = std::chrono::steady_clock::now();
  const DeviceInfo& info = device.info();
  Ceilings ceilings;
  ceilings.backend = enum_name(info.backend);
  ceilings.device = info.name;
  ceilings.gpu_uuid = info.gpu_uuid;
  ceilings.measured_unix_s =
      duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  if (info.backend == kernels::Backend::cuda) {
    TRY(measure_cuda_ceilings(device, sizes, ceilings));
  } else {
    TRY(measure_cpu_ceilings(device, sizes, ceilings));
  }
  ceilings.wall_s = duration<double>(std::chrono::steady_clock::now() - start).count();
  return ceilings;
}

std::optional<Ceilings> still_good(const std::string& text, const DeviceInfo& device,
                                   double now_unix_s) {
  const auto known = value_from_text<Ceilings>(text);
  if (!known || !known->reason.empty() || known->device != device.name ||
      known->gpu_uuid != device.gpu_uuid || known->backend != enum_name(device.backend)) {
    return std::nullopt;
  }
  const double age_s = now_unix_s - known->measured_unix_s;
  if (age_s < 0 || age_s > kGoodForSeconds) return std::nullopt;
  return *known;
}

void note_state(const DeviceState& state, Ceilings& ceilings) {
  ceilings.sm_clock_mhz = state.sm_clock_mhz;
  ceilings.memory_clock_mhz = state.memory_clock_mhz;
  ceilings.power_w = state.power_w;
  ceilings.throttled = state.throttled;
  ceilings.throttle_reason = state.throttle_reason;
}

void add_reason(Ceilings& ceilings, const std::string& reason) {
  ceilings.reason += (ceilings.reason.empty() ? "" : "; ") + reason;
}

}  // namespace headsplit::agent
