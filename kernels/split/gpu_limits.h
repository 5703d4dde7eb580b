#pragma once

#include "core/result.h"

namespace headsplit::kernels::split {

/// What a choice of tiles depends on.
struct GpuLimits {
  int sm_count = 0;
  int shared_bytes_per_cta = 0;  ///< largest that a CTA may ask for
  int shared_bytes_per_sm = 0;
  int compute_major = 0;
  int compute_minor = 0;
  int l2_bytes = 0;
};

/// Of the current device.  Fails: cuda (no GPU).
Result<GpuLimits> current_gpu();

/// The costs of plans are measured on it, and wgmma is its own.
bool is_hopper(const GpuLimits& limits);

/// Shared memory that the driver keeps of each CTA's share.
constexpr int kReservedSharedBytes = 1024;

/// Shared memory that each of `ctas_per_sm` CTAs may have.
int room_bytes(const GpuLimits& limits, int ctas_per_sm);

/// A kernel's host function as the C interface of the runtime takes it.
template <class Arguments>
const void* entry_point(void (*function)(Arguments)) {
  return reinterpret_cast<const void*>(function);
}

}  // namespace headsplit::kernels::split
