#pragma once

#include <cstdint>

#include "kernels/device/ptx.cuh"

/// Rings of stages in shared memory, each with barriers.
namespace headsplit::kernels {

/// Place in the ring of stages: which stage, and the parity of its barriers' phase.
struct RingPosition {
  int stage = 0;
  std::uint32_t parity = 0;

  __device__ void advance(int stages) {
    if (++stage < stages) return;
    stage = 0;
    parity ^= 1;
  }
};

/// Until the phase of that parity is over.
__device__ __forceinline__ void wait(std::uint32_t barrier, std::uint32_t parity) {
  while (!ptx::mbarrier_try_wait(barrier, parity)) {
  }
}

}  // namespace headsplit::kernels
