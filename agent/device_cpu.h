#pragma once

#include <memory>

#include "agent/device.h"
#include "core/result.h"

namespace headsplit::agent {

/// The processors of this process as a device: CPU kernels on all of them, timed by the steady
/// clock.  It has no hardware counters.
/// Fails: io (/proc cannot be read).
Result<std::unique_ptr<Device>> open_cpu_device();

}  // namespace headsplit::agent
