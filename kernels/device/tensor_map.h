#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>

#include "core/result.h"

namespace headsplit::kernels {

/// A tensor of bf16 values without gaps, the innermost dimension first, that the copy engine of
/// Hopper (TMA) reads in boxes.
struct TensorMapRequest {
  const void* base = nullptr;  ///< 16-byte aligned
  std::array<std::int64_t, 4> sizes = {};
  std::array<int, 4> box = {};  ///< each at most 256; 64 values of the innermost: 128 bytes a row,
                                ///< swizzled as tile_layout.h says
};

/// The map; what a box has outside of the tensor becomes zeros.
/// Fails: cuda (the driver has no such function, or refuses).
Result<CUtensorMap> make_tensor_map(const TensorMapRequest& request);

}  // namespace headsplit::kernels
