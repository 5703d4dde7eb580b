#include "cli/gpu_count.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace headsplit::cli {
namespace {

int gpus_of_driver() {
  namespace fs = std::filesystem;
  std::error_code error;
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc/driver/nvidia/gpus", error)) {
    count += entry.is_directory();
  }
  if (count > 0) return count;
  // Containers may hide /proc: fall back on the device nodes nvidia0, nvidia1, ...
  for (const auto& entry : fs::directory_iterator("/dev", error)) {
    const std::string name = entry.path().filename();
    const bool numbered = name.size() > 6 && name.starts_with("nvidia") &&
                          std::all_of(name.begin() + 6, name.end(), ::isdigit);
    count += numbered;
  }
  return count;
}

}  // namespace

int visible_of(int gpus, const char* visible_devices) {
  if (visible_devices == nullptr) return gpus;
  std::istringstream list(visible_devices);
  int count = 0;
  for (std::string item; std::getline(list, item, ',');) {
    const bool index = !item.empty() && std::all_of(item.begin(), item.end(), ::isdigit);
    if (index && std::atoi(item.c_str()) >= gpus) break;
    if (!index && !item.starts_with("GPU-") && !item.starts_with("MIG-")) break;
    ++count;
  }
  return std::min(count, gpus);
}

int visible_gpu_count() {
  return visible_of(gpus_of_driver(), std::getenv("CUDA_VISIBLE_DEVICES"));
}

}  // namespace headsplit::cli
