#pragma once

#include "kernels/per_head/portable_warp.cuh"

/// The end of an item: teams add up, and the last one writes.
namespace headsplit::kernels::per_head {

template <Widths kWidths>
__device__ __forceinline__ void Warp<kWidths>::scale_output(int half, float factor) {
#pragma unroll
  for (int n = 0; n < kOutputTiles; ++n) {
    output[n][2 * half] *= factor;
    output[n][2 * half + 1] *= factor;
  }
}

/// Sums and outputs of all teams come together in the last one; outputs are divided by the sums.
/// Gives whether this warp is of the last team.
template <Widths kWidths>
__device__ __forceinline__ bool Warp<kWidths>::merge() {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = half * 8 + team.lane / 4;
    if (team.lane % 4 == 0) {
      ptx::store_shared(memory.row_values(team.warp, row), __float_as_uint(reference[half]));
      ptx::store_shared(memory.row_values(team.warp, row) + 4, __float_as_uint(sum[half]));
    }
  }
  __syncthreads();
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = half * 8 + team.lane / 4;
    const float own = reference[half];
    const auto value = [&](int of_team, int which) {
      const int warp = of_team * team.row_warps + team.row_warp();
      return __uint_as_float(ptx::load_shared(memory.row_values(warp, row) + which * 4));
    };
    float largest = -INFINITY;
    for (int i = 0; i < team.teams(); ++i) largest = fmaxf(largest, value(i, 0));
    float total = 0;
    for (int i = 0; i < team.teams(); ++i) {
      if (largest > -INFINITY) total += value(i, 1) * ptx::exp2_approx(value(i, 0) - largest);
    }
    scale_output(half, total > 0 ? ptx::exp2_approx(own - largest) / total : 0);
    reference[half] = largest;
    sum[half] = total;
  }
  const std::uint32_t shared = memory.merge(team.row_warp()) + team.lane * 16;
  for (int turn = 0; turn < team.teams(); ++turn) {
    if (turn == team.team()) {
#pragma unroll
      for (int n = 0; n < kOutputTiles; ++n) {
        if (turn > 0) {
          float before[4];
          ptx::load_shared(before, shared + n * 512);
#pragma unroll
          for (int e = 0; e < 4; ++e) output[n][e] += before[e];
        }
        if (turn + 1 < team.teams()) ptx::store_shared(shared + n * 512, output[n]);
      }
    }
    if (turn + 1 < team.teams()) __syncthreads();
  }
  return team.team() + 1 == team.teams();
}

/// A row as bf16: each lane writes 16 bytes of every 64.
template <Widths kWidths>
__device__ __forceinline__ void Warp<kWidths>::store_output(int half) const {
  std::uint16_t* const target = arguments.output + global_row(half) * arguments.d_v;
#pragma unroll
  for (int n = 0; n < kOutputTiles; n += 4) {
    std::uint32_t packed[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      packed[i] = ptx::pack_bf16(output[n + i][2 * half], output[n + i][2 * half + 1]);
    }
    quad_transpose(packed, team.lane);
    const int dim = (n + team.lane % 4) * 8;
    if (is_row(half) && dim < arguments.d_v) {
      *reinterpret_cast<uint4*>(target + dim) =
          make_uint4(packed[0], packed[1], packed[2], packed[3]);
    }
  }
}

template <Widths kWidths>
__device__ __forceinline__ void Warp<kWidths>::store_partial(int half) const {
  if (!is_row(half)) return;
  const std::int64_t row = std::int64_t{item.slot} * arguments.tile_rows + tile_row(half);
  float* const target = arguments.partial_output + row * arguments.d_v + team.lane % 4 * 2;
#pragma unroll
  for (int n = 0; n < kOutputTiles; ++n) {
    if (n * 8 >= arguments.d_v) continue;
    *reinterpret_cast<float2*>(target + n * 8) =
        make_float2(output[n][2 * half], output[n][2 * half + 1]);
  }
}

template <Widths kWidths>
__device__ __forceinline__ void Warp<kWidths>::finish() {
#pragma unroll
  for (int half = 0; half < 2; ++half) sum[half] = quad_sum(sum[half]);
  if (team.teams() > 1) {
    if (!merge()) return;
  } else {
#pragma unroll
    for (int half = 0; half < 2; ++half) scale_output(half, sum[half] > 0 ? 1 / sum[half] : 0);
  }
  const bool whole = item.slot < 0;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    if (whole) {
      store_output(half);
    } else {
      store_partial(half);
    }
    if (!is_row(half) || team.lane % 4 != 0) continue;
    const float lse =
        sum[half] > 0 ? (reference[half] + log2f(sum[half])) * split::kLn2 : -INFINITY;
    if (whole) {
      arguments.lse[global_row(half)] = lse;
    } else {
      arguments.partial_lse[std::int64_t{item.slot} * arguments.tile_rows + tile_row(half)] = lse;
    }
  }
}

}  // namespace headsplit::kernels::per_head
