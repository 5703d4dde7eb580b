#include "kernels/registry_plugins.h"

namespace headsplit::kernels {

std::span<const KernelEntry> plugin_entries() { return {}; }

}  // namespace headsplit::kernels
