#pragma once

#include "kernels/device/tiles.cuh"
#include "kernels/mla_dense/fp8_wide_shape.h"

/// Queries from a stage of the ring, where they come as they lie, to where products find them.
namespace headsplit::kernels::dense::wide {

/// Two bf16 values, in f16, or times the lift.
__device__ __forceinline__ std::uint32_t bf16_to_f16(std::uint32_t pair) {
  return ptx::pack_f16(__uint_as_float(pair << 16), __uint_as_float(pair & 0xFFFF0000u));
}
__device__ __forceinline__ std::uint32_t lifted_bf16(std::uint32_t pair) {
  return ptx::pack_bf16(__uint_as_float(pair << 16) * kLift,
                        __uint_as_float(pair & 0xFFFF0000u) * kLift);
}

/// Half of a row's slice of 64 dimensions, in the order in which a lane of a quad meets keys: of
/// product p it has the four dimensions 16 x lane + 4 x p .. of a slice in e4m3, whose pairs are
/// its k 2 x lane .. and 8 + 2 x lane ..; of RoPE in bf16 32 x (p / 2) + 8 x lane + 4 x (p % 2) ...
template <class Row>
struct HalfSlice {
  int slice;
  int half;  ///< its chunks 4 x half .. of the slice
  std::uint32_t pairs[4][4];

  __device__ bool in_e4m3() const { return Row::kOneScale || slice < kLatentSlices; }
  /// Sixteen bytes for each lane of a quad; not real: zeros.
  __device__ void load(std::uint32_t row, bool real) {
#pragma unroll
    for (int quad = 0; quad < 4; ++quad) {
      const int chunk = in_e4m3() ? 2 * quad + half : 4 * half + quad;
      if (real) {
        ptx::load_shared(pairs[quad], row + slice * kTileRowBytes + chunk * kChunkBytes);
      } else {
        pairs[quad][0] = pairs[quad][1] = pairs[quad][2] = pairs[quad][3] = 0;
      }
    }
  }
  __device__ void store(std::uint32_t slice_rows, int row) const {
#pragma unroll
    for (int chunk = 0; chunk < 4; ++chunk) {
      float words[4];
#pragma unroll
      for (int quad = 0; quad < 4; ++quad) {
        const std::uint32_t pair = pairs[quad][chunk];
        words[quad] = __uint_as_float(in_e4m3() ? bf16_to_f16(pair) : lifted_bf16(pair));
      }
      ptx::store_shared(slice_rows + swizzled(row, 4 * half + chunk), words);
    }
  }
};

/// A stage's rows, from `first_row` on, by the threads of a group; rows from row_count on become
/// zeros.
template <int kRows, class Row>
__device__ __forceinline__ void convert_queries(const SharedMemory<kRows, Row>& memory,
                                                std::uint32_t stage, int first_row, int row_count,
                                                int thread) {
  constexpr int kParts = 2 * kSlices * kQueryRows;
#pragma unroll 1
  for (int number = thread; number < kParts; number += kGroupThreads) {
    const int of_stage = number / (2 * kSlices);
    const int row = first_row + of_stage;
    HalfSlice<Row> part;
    part.slice = number / 2 % kSlices;
    part.half = number % 2;
    part.load(stage + of_stage * (2 * kQk), row < row_count);
    part.store(memory.query() + part.slice * memory.kQuerySliceBytes, row);
  }
}

}  // namespace headsplit::kernels::dense::wide
