#pragma once

#include <memory>

#include "agent/device.h"
#include "core/result.h"

namespace headsplit::agent {

/// The first visible GPU as a device.
/// Fails: config (this build has no CUDA), cuda (no GPU, driver too old; says which).
Result<std::unique_ptr<Device>> open_cuda_device();

}  // namespace headsplit::agent
