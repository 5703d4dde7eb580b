#include "kernels/split/gpu_limits.h"

#include <algorithm>
#include <utility>

#include "kernels/device/cuda_try.h"

namespace headsplit::kernels::split {

Result<GpuLimits> current_gpu() {
  int device = 0;
  CUDA_TRY(cudaGetDevice(&device));
  GpuLimits limits;
  const std::pair<int*, cudaDeviceAttr> attributes[] = {
      {&limits.sm_count, cudaDevAttrMultiProcessorCount},
      {&limits.shared_bytes_per_cta, cudaDevAttrMaxSharedMemoryPerBlockOptin},
      {&limits.shared_bytes_per_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor},
      {&limits.compute_major, cudaDevAttrComputeCapabilityMajor},
      {&limits.compute_minor, cudaDevAttrComputeCapabilityMinor},
      {&limits.l2_bytes, cudaDevAttrL2CacheSize}};
  for (const auto& [value, attribute] : attributes) {
    CUDA_TRY(cudaDeviceGetAttribute(value, attribute, device));
  }
  return limits;
}

bool is_hopper(const GpuLimits& limits) {
  return limits.compute_major == 9 && limits.compute_minor == 0;
}

int room_bytes(const GpuLimits& limits, int ctas_per_sm) {
  return std::min(limits.shared_bytes_per_cta,
                  limits.shared_bytes_per_sm / ctas_per_sm - kReservedSharedBytes);
}

}  // namespace headsplit::kernels::split
