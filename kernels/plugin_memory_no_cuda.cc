#include "kernels/plugin_memory.h"

namespace headsplit::kernels {

Result<std::unique_ptr<PluginMemory>> make_device_memory(const Problem&, OutputType, void*) {
  return fail(ErrorKind::config, "this build has no CUDA");
}

}  // namespace headsplit::kernels
