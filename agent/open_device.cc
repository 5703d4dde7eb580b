#include "agent/device.h"
#include "agent/device_cpu.h"
#include "agent/device_cuda.h"
#include "core/log.h"

namespace headsplit::agent {

Result<std::unique_ptr<Device>> open_device(BackendChoice choice) {
  if (choice == BackendChoice::cpu) return open_cpu_device();
  auto cuda = open_cuda_device();
  if (cuda || choice == BackendChoice::cuda) return cuda;
  log_line(LogLevel::info, "worker", "no GPU, measuring on the CPU",
           log_field("reason", cuda.error().message));
  return open_cpu_device();
}

}  // namespace headsplit::agent
