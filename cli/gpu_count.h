#pragma once

#include <string>

namespace headsplit::cli {

/// GPUs that processes started from here may use: those the driver lists, narrowed by
/// CUDA_VISIBLE_DEVICES.  Asks the driver's files, not CUDA: no context is made.
int visible_gpu_count();

/// The pure part.  visible_devices: value of CUDA_VISIBLE_DEVICES, or null when unset; the list
/// ends at the first index that does not exist, as CUDA has it.
int visible_of(int gpus, const char* visible_devices);

}  // namespace headsplit::cli
