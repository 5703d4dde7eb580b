#pragma once

#include "agent/device.h"
#include "kernels/verify.h"

namespace headsplit::agent {

/// The fp64 reference that outputs of a problem are compared with: up to 64 rows, fewer where
/// contexts are long, by the device where it can.  Fails: as the device does.
Result<kernels::Reference> make_point_reference(Device& device, const kernels::Problem& problem);

}  // namespace headsplit::agent
