#include "kernels/registry_cuda.h"

namespace headsplit::kernels {

std::span<const KernelEntry> cuda_entries() { return {}; }

}  // namespace headsplit::kernels
