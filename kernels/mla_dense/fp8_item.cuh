#pragma once

#include "kernels/mla_dense/fp8_warp.cuh"

/// Start and end of an item.
namespace headsplit::kernels::dense::fp8 {

/// Two bf16 values as f16.
__device__ __forceinline__ std::uint32_t bf16_to_f16(std::uint32_t pair) {
  return ptx::pack_f16(__uint_as_float(pair << 16), __uint_as_float(pair & 0xFFFF0000u));
}

/// Queries in the order in which multiply_keys reads keys: of product `step`, a lane of the quad
/// has the four dimensions 64 x (step / 4) + 16 x (lane % 4) + 4 x (step % 4) .. of the warp's.
template <class Row>
__device__ __forceinline__ void WarpOn<Row>::begin(const WorkItem& next) {
  item = next;
  const int in_quad = lane % 4;
  const int* const ends = arguments.ends + item.request * arguments.query_tokens;
  mask_begin = min(item.token_end, ends[0]);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const bool real = is_row(row(half));
    const int query_token = (item.row_begin + row(half)) / arguments.local_heads;
    attended[half] = min(item.token_end, ends[min(query_token, arguments.query_tokens - 1)]);
    reference[half] = -INFINITY;
    sum[half] = 0;
    const std::uint16_t* source = arguments.query + (real ? global_row(row(half)) : 0) * kQk;
    const auto four = [&](int dim) {
      return real ? __ldg(reinterpret_cast<const uint2*>(source + dim)) : make_uint2(0, 0);
    };
#pragma unroll
    for (int step = 0; step < 8; ++step) {
      const uint2 values = four(warp * kScaleWidth + step / 4 * 64 + 16 * in_quad + step % 4 * 4);
      query[step][half] = bf16_to_f16(values.x);
      query[step][2 + half] = bf16_to_f16(values.y);
    }
    const uint2 values = four(kLatent + 16 * warp + 4 * in_quad);
    rope_query[half] = Row::kOneScale ? bf16_to_f16(values.x) : values.x;
    rope_query[2 + half] = Row::kOneScale ? bf16_to_f16(values.y) : values.y;
  }
#pragma unroll
  for (int i = 0; i < 16; ++i) {
#pragma unroll
    for (int e = 0; e < 4; ++e) output[i][e] = 0;
  }
}

/// What is in slots past a request's end may be NaN, and weight 0 does not undo that: this warp's
/// values and scales of tokens from `from` on become 0.
template <class Row>
__device__ __forceinline__ void WarpOn<Row>::clear(std::uint32_t stage, int from) const {
  for (int token = from; token < kTokens; ++token) {
    ptx::store_shared(
        Row::chunk(stage, token, (warp * kScaleWidth + lane * 4) / kChunkBytes) + lane % 4 * 4, 0u);
    if constexpr (!Row::kOneScale) {
      if (lane == 0) ptx::store_shared(scale_address(stage, token), 0u);
    }
  }
  __syncwarp();
}

/// A row's values of this warp: a lane has four dimensions that follow each other of every 16.
template <class Row>
__device__ __forceinline__ void WarpOn<Row>::store(int half, float factor,
                                                   std::int64_t target) const {
  const std::int64_t first = target * kLatent + warp * kScaleWidth + lane % 4 * 4;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float* even = output[2 * i] + 2 * half;
    const float* odd = output[2 * i + 1] + 2 * half;
    const float4 values =
        make_float4(even[0] * factor, odd[0] * factor, even[1] * factor, odd[1] * factor);
    if (item.slot < 0) {
      *reinterpret_cast<uint2*>(arguments.output + first + i * 16) =
          make_uint2(ptx::pack_bf16(values.x, values.y), ptx::pack_bf16(values.z, values.w));
    } else {
      *reinterpret_cast<float4*>(arguments.partial_output + first + i * 16) = values;
    }
  }
}

/// Divides by the sums of the weights and writes output and LSE.
template <class Row>
__device__ __forceinline__ void WarpOn<Row>::finish() {
#pragma unroll
  for (int half = 0; half < 2; ++half) share_row_value(half, quad_sum(sum[half]));
  barrier();
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float of_warp[kWarps];
    ptx::load_shared(of_warp, memory.row_values(row(half)));
    if (!is_row(row(half))) continue;
    const float total = of_warp[0] + of_warp[1] + of_warp[2] + of_warp[3];
    const std::int64_t target = item.slot < 0
                                    ? global_row(row(half))
                                    : std::int64_t{item.slot} * arguments.tile_rows + row(half);
    const float unit = Row::kOneScale ? arguments.cache_scale : 1;
    store(half, total > 0 ? unit / (total * kLift) : 0, target);
    if (warp > 0 || lane % 4 != 0) continue;
    (item.slot < 0 ? arguments.lse : arguments.partial_lse)[target] =
        total > 0 ? (reference[half] + log2f(total)) * kLn2 : -INFINITY;
  }
  barrier();  // the row values have been read
}

}  // namespace headsplit::kernels::dense::fp8
