#pragma once

#include "kernels/device/ptx.cuh"
#include "kernels/device/ring.cuh"
#include "kernels/mla_dense/portable_shape.h"

namespace headsplit::kernels::dense {

/// Memory map of a CTA's shared memory, as 32-bit addresses.
///   a group: [queries] | a group: [exchange, then P] | a group: [row values] | barriers |
///   stages x [cache tile]
template <TileShape kShape>
struct SharedMemory {
  std::uint32_t base;

  __device__ std::uint32_t query(int group) const {
    return base + std::uint32_t(group * kShape.query_bytes());
  }
  __device__ std::uint32_t exchange(int group) const {
    return query(kShape.groups) + std::uint32_t(group * kShape.exchange_bytes());
  }
  __device__ std::uint32_t row_values(int group) const {
    return exchange(kShape.groups) + std::uint32_t(group * kShape.row_values_bytes());
  }
  /// The tile in this stage has landed.
  __device__ std::uint32_t full(int index) const {
    return row_values(kShape.groups) + std::uint32_t(8 * index);
  }
  /// Every consumer warp is done with the tile in this stage.
  __device__ std::uint32_t empty(int index) const { return full(TileShape::kStagesMax + index); }
  /// Every warp of the group has read P.
  __device__ std::uint32_t probabilities_read(int group) const {
    return full(2 * TileShape::kStagesMax + group);
  }
  /// Every warp of the group has its scores of a tile.
  __device__ std::uint32_t scores_done(int group) const {
    return probabilities_read(kShape.groups + group);
  }
  __device__ std::uint32_t stage(int index) const {
    return base + std::uint32_t(kShape.fixed_bytes() + index * kShape.stage_bytes());
  }

  __device__ void init_barriers(int stages) const {
    for (int i = 0; i < stages; ++i) {
      ptx::mbarrier_init(full(i), 32 * kShape.loader_warps());
      ptx::mbarrier_init(empty(i), 32 * kShape.consumer_warps());
    }
    for (int group = 0; group < kShape.groups; ++group) {
      ptx::mbarrier_init(probabilities_read(group), 32 * TileShape::kGroupWarps);
      ptx::mbarrier_init(scores_done(group), 32 * TileShape::kGroupWarps);
    }
  }
};

}  // namespace headsplit::kernels::dense
