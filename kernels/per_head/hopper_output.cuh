#pragma once

#include "kernels/per_head/hopper_group.cuh"

/// Outputs and partials to memory, and what must not get into them.
namespace headsplit::kernels::per_head::hopper {

/// What is in slots past a request's end may be NaN, and weight 0 does not undo that.
template <Shape kShape>
__device__ __forceinline__ void Consumer<kShape>::clear_values(int from) {
  wait(memory.values_full(values.stage), values.parity);
  const int threads = (both ? kGroups : 1) * kGroupThreads;
  constexpr int kChunks = kShape.d_v / kTileRowValues * kTileRowChunks;
  const float zeros[4] = {0, 0, 0, 0};
  for (int i = group * kGroupThreads + warp * 32 + lane; i < (kShape.tokens - from) * kChunks;
       i += threads) {
    const int chunk = i % kChunks;
    ptx::store_shared(memory.values(values.stage) + chunk / kTileRowChunks * kShape.slice_bytes() +
                          (from + i / kChunks) * kTileRowBytes +
                          chunk % kTileRowChunks * kChunkBytes,
                      zeros);
  }
  ptx::fence_async_proxy();
  ptx::barrier_sync(kClearedBarrier, threads);
}

template <Shape kShape>
__device__ __forceinline__ void Consumer<kShape>::store() {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float total = quad_sum(sum[half]);
    const float inverse = total > 0 ? 1 / total : 0;
    const float lse = total > 0 ? (reference[half] + log2f(total)) * kLn2 : -INFINITY;
    const bool real = row(half) < item.row_count;
    const std::int64_t target = item.slot < 0
                                    ? output_row(row(half))
                                    : std::int64_t{item.slot} * arguments.tile_rows + row(half);
    if (real && lane % 4 == 0)
      (item.slot < 0 ? arguments.lse : arguments.partial_lse)[target] = lse;
    std::uint16_t* const values_out = arguments.output + target * kShape.d_v;
    float* const partial = arguments.partial_output + target * kShape.d_v;
    if (item.slot >= 0) {
#pragma unroll
      for (int i = 0; i < kShape.d_v / 8; ++i) {
        const float* of_block = output + 4 * i + 2 * half;
        if (real) {
          *reinterpret_cast<float2*>(partial + i * 8 + lane % 4 * 2) =
              make_float2(of_block[0] * inverse, of_block[1] * inverse);
        }
      }
      continue;
    }
#pragma unroll
    for (int i = 0; i < kShape.d_v / 8; i += 4) {
      std::uint32_t packed[4];
#pragma unroll
      for (int block = 0; block < 4; ++block) {
        const float* of_block = output + 4 * (i + block) + 2 * half;
        packed[block] = ptx::pack_bf16(of_block[0] * inverse, of_block[1] * inverse);
      }
      quad_transpose(packed, lane);
      if (real) {
        *reinterpret_cast<uint4*>(values_out + (i + lane % 4) * 8) =
            make_uint4(packed[0], packed[1], packed[2], packed[3]);
      }
    }
  }
}

/// An item without tokens: nothing is attended to.  Its partial is read all the same, and weighs 0.
template <Shape kShape>
__device__ __forceinline__ void Consumer<kShape>::store_nothing() const {
  const uint4 zeros = make_uint4(0, 0, 0, 0);
  for (int of_tile = warp * 32 + lane; of_tile < item.row_count; of_tile += kGroupThreads) {
    const bool whole = item.slot < 0;
    const std::int64_t target =
        whole ? output_row(of_tile) : std::int64_t{item.slot} * arguments.tile_rows + of_tile;
    (whole ? arguments.lse : arguments.partial_lse)[target] = -INFINITY;
    uint4* const row =
        whole ? reinterpret_cast<uint4*>(arguments.output + target * kShape.d_v)
              : reinterpret_cast<uint4*>(arguments.partial_output + target * kShape.d_v);
    const int chunks = kShape.d_v / (whole ? 8 : 4);
    for (int i = 0; i < chunks; ++i) row[i] = zeros;
  }
}

}  // namespace headsplit::kernels::per_head::hopper
