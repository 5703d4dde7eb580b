#pragma once

#include <span>

#include "kernels/kernel.h"

namespace headsplit::kernels {

/// The CUDA kernels of this build; empty in a build without CUDA.
std::span<const KernelEntry> cuda_entries();

}  // namespace headsplit::kernels
