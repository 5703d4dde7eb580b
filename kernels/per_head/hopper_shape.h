#pragma once

#include <cstdint>

#include "kernels/device/tile_layout.h"
#ifdef __CUDACC__
#include "kernels/device/ptx.cuh"
#include "kernels/device/ring.cuh"
#endif

namespace headsplit::kernels::per_head::hopper {

/// The CTA: two warpgroups with 64 packed rows each and a warp that asks the copy engine for keys
/// and values, which both groups use.
constexpr int kGroupRows = 64;
constexpr int kGroups = 2;
constexpr int kRows = kGroups * kGroupRows;
constexpr int kGroupThreads = 128;
constexpr int kThreads = (kGroups + 1) * kGroupThreads;
/// Registers of a thread; 168 each at launch.
constexpr int kConsumerRegisters = 240;
constexpr int kProducerRegisters = 24;
static_assert(kGroups * kConsumerRegisters + kProducerRegisters <= 3 * 168);

/// Widths of a head, tokens of a step, and steps that shared memory has room for.
struct Shape {
  int d_k;
  int d_v;
  int tokens;
  int stages;

  constexpr int query_slice_bytes() const { return kRows * kTileRowBytes; }
  constexpr int query_bytes() const { return d_k / kTileRowValues * query_slice_bytes(); }
  constexpr int slice_bytes() const { return tokens * kTileRowBytes; }  ///< of keys or values
  constexpr int keys_bytes() const { return d_k / kTileRowValues * slice_bytes(); }
  constexpr int values_bytes() const { return d_v / kTileRowValues * slice_bytes(); }
};

/// Memory map of a CTA's shared memory, as 32-bit addresses.
///   [queries] | stages x [keys] | stages x [values] | barriers
template <Shape kShape>
struct SharedMemory {
  std::uint32_t base;

  static constexpr int kKeys = kShape.query_bytes();
  static constexpr int kValues = kKeys + kShape.stages * kShape.keys_bytes();
  static constexpr int kBarriers = kValues + kShape.stages * kShape.values_bytes();
  static constexpr int kBytes = kBarriers + 8 * (4 * kShape.stages + 2);
  static_assert(kBytes <= 227 * 1024);

#ifdef __CUDACC__
  __device__ std::uint32_t query(int slice) const {
    return base + std::uint32_t(slice * kShape.query_slice_bytes());
  }
  __device__ std::uint32_t keys(int stage) const {
    return base + std::uint32_t(kKeys + stage * kShape.keys_bytes());
  }
  __device__ std::uint32_t values(int stage) const {
    return base + std::uint32_t(kValues + stage * kShape.values_bytes());
  }
  __device__ std::uint32_t barrier(int index) const {
    return base + std::uint32_t(kBarriers + 8 * index);
  }
  /// The keys of this stage have landed; both groups are done with them; the same for values.
  __device__ std::uint32_t keys_full(int stage) const { return barrier(stage); }
  __device__ std::uint32_t keys_empty(int stage) const { return barrier(kShape.stages + stage); }
  __device__ std::uint32_t values_full(int stage) const {
    return barrier(2 * kShape.stages + stage);
  }
  __device__ std::uint32_t values_empty(int stage) const {
    return barrier(3 * kShape.stages + stage);
  }
  __device__ std::uint32_t query_full() const { return barrier(4 * kShape.stages); }
  __device__ std::uint32_t query_empty() const { return barrier(4 * kShape.stages + 1); }

  __device__ void init_barriers() const {
    for (int stage = 0; stage < kShape.stages; ++stage) {
      ptx::mbarrier_init(keys_full(stage), 1);
      ptx::mbarrier_init(keys_empty(stage), kGroups);
      ptx::mbarrier_init(values_full(stage), 1);
      ptx::mbarrier_init(values_empty(stage), kGroups);
    }
    ptx::mbarrier_init(query_full(), 1);
    ptx::mbarrier_init(query_empty(), kGroups);
  }
#endif
};

}  // namespace headsplit::kernels::per_head::hopper
