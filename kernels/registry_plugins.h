#pragma once

#include <span>

#include "kernels/kernel.h"

namespace headsplit::kernels {

/// Kernels of other projects, bound through their own libraries; empty in a build without them.
std::span<const KernelEntry> plugin_entries();

}  // namespace headsplit::kernels
