#pragma once

#include "kernels/mla_dense/portable_consumer.cuh"

/// Start and end of a consumer warp's item.
namespace headsplit::kernels::dense {

template <TileShape kShape>
__device__ __forceinline__ void Consumer<kShape>::begin(const WorkItem& next) {
  item = next;
  mask_begin = min(item.token_end, arguments.ends[item.request * arguments.query_tokens]);
  const int rows = item.row_count - group_row();
  active_blocks = min(kBlocks, max(0, (rows + TileShape::kBlockRows - 1) / TileShape::kBlockRows));
  if (active_blocks == 0) return;
  group_barrier();  // the last item's queries and row values have been read
  if (item.token_begin < item.token_end) {
    load_query();
    load_rope_query();
    ptx::cp_async_wait_all();
    group_barrier();
  }
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      reference[block][half] = -INFINITY;
      sum[block][half] = 0;
    }
#pragma unroll
    for (int n = 0; n < kOutputTiles; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) output[block][n][e] = 0;
    }
  }
}

/// The latent part of the group's queries into shared memory; rows that are not there become zeros.
template <TileShape kShape>
__device__ __forceinline__ void Consumer<kShape>::load_query() const {
  constexpr int kRowsAStep = kGroupThreads / kTileRowChunks;
  const int thread = warp * 32 + lane;
  const int chunk = thread % kTileRowChunks;
  for (int row = thread / kTileRowChunks; row < kShape.group_rows(); row += kRowsAStep) {
    const bool real = is_row(row);
    const std::uint16_t* source =
        arguments.query + (real ? global_row(row) * kShape.d_qk() + chunk * 8 : 0);
    const std::uint32_t target = memory.query(group) + swizzled(row, chunk);
#pragma unroll
    for (int slice = 0; slice < kShape.latent_slices(); ++slice) {
      ptx::cp_async_16_or_zeros(target + slice * kQuerySliceBytes, source + slice * kTileRowValues,
                                real);
    }
  }
}

/// This warp's half of the RoPE part of the queries, as A operands.
template <TileShape kShape>
__device__ __forceinline__ void Consumer<kShape>::load_rope_query() {
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int step = 0; step < kRopeSteps; ++step) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int row = thread_row(block, e % 2);
        const int column = kShape.d_latent + (dimension_half() * kRopeSteps + step) * 16 +
                           e / 2 * 8 + lane % 4 * 2;
        const auto* source = reinterpret_cast<const std::uint32_t*>(
            arguments.query + global_row(row) * kShape.d_qk() + column);
        rope_query[block][step][e] = is_row(row) ? __ldg(source) : 0;
      }
    }
  }
}

/// A row's values of this warp as bf16: each lane writes 16 bytes of every 64.
template <TileShape kShape>
__device__ __forceinline__ void Consumer<kShape>::store_output(std::uint16_t* values, int block,
                                                               int half, float factor) const {
  static_assert(kOutputTiles % 4 == 0);
#pragma unroll
  for (int n = 0; n < kOutputTiles; n += 4) {
    std::uint32_t packed[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float* of_tile = output[block][n + i] + 2 * half;
      packed[i] = ptx::pack_bf16(of_tile[0] * factor, of_tile[1] * factor);
    }
    quad_transpose(packed, lane);
    if (is_row(thread_row(block, half))) {
      *reinterpret_cast<uint4*>(values + (n + lane % 4) * 8) =
          make_uint4(packed[0], packed[1], packed[2], packed[3]);
    }
  }
}

template <TileShape kShape>
__device__ __forceinline__ void Consumer<kShape>::store_partial(float* values, int block, int half,
                                                                float factor) const {
#pragma unroll
  for (int n = 0; n < kOutputTiles; ++n) {
    *reinterpret_cast<float2*>(values + n * 8 + lane % 4 * 2) =
        make_float2(output[block][n][2 * half] * factor, output[block][n][2 * half + 1] * factor);
  }
}

/// Divides by the sums of the weights and writes output and LSE.
template <TileShape kShape>
__device__ __forceinline__ void Consumer<kShape>::finish() {
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) share_row_value(block, half, quad_sum(sum[block][half]));
  }
  group_barrier();
  const bool whole = item.slot < 0;
  float* const lse = whole ? arguments.lse : arguments.partial_lse;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = thread_row(block, half);
      float of_warp[4];
      load_row_values(of_warp, block, half);
      const float total = of_warp[0] + of_warp[1] + of_warp[2] + of_warp[3];
      const float inverse = total > 0 ? 1 / total : 0;
      const std::int64_t target =
          whole ? global_row(row)
                : std::int64_t{item.slot} * arguments.tile_rows + group_row() + row;
      const std::int64_t first = target * kShape.d_latent + warp * kWarpDims;
      if (whole) {
        store_output(arguments.output + first, block, half, inverse);
      } else if (is_row(row)) {
        store_partial(arguments.partial_output + first, block, half, inverse);
      }
      if (!is_row(row)) continue;
      if (warp == 0 && lane % 4 == 0) {
        lse[target] = total > 0
                          ? (reference[block][half] * arguments.scale_log2 + log2f(total)) * kLn2
                          : -INFINITY;
      }
    }
  }
}

}  // namespace headsplit::kernels::dense
