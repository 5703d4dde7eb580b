#pragma once

#include "kernels/per_head/portable_warp.cuh"

/// The end of an item: teams add up, and the last one writes.
namespace headsplit::kernels::per_head {

template <TileShape kShape>
__device__ __forceinline__ void Warp<kShape>::scale_output(int block, int half, float factor) {
#pragma unroll
  for (int n = 0; n < kOutputTiles; ++n) {
    output[block][n][2 * half] *= factor;
    output[block][n][2 * half + 1] *= factor;
  }
}

/// References and sums of this warp, to where the other teams find them.
template <TileShape kShape>
__device__ __forceinline__ void Warp<kShape>::share_sums() const {
  if (team.lane % 4 != 0) return;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t place = memory.row_values(team.warp, warp_row(block, half));
      ptx::store_shared(place, __float_as_uint(reference[block][half]));
      ptx::store_shared(place + 4, __float_as_uint(sum[block][half]));
    }
  }
}

/// Reference and sum of a row become those of all teams, to which this warp's output is scaled.
template <TileShape kShape>
__device__ __forceinline__ void Warp<kShape>::merge_sums(int block, int half) {
  const auto value = [&](int of_team, int which) {
    const int warp = of_team * team.row_warps + team.row_warp();
    return __uint_as_float(
        ptx::load_shared(memory.row_values(warp, warp_row(block, half)) + which * 4));
  };
  float largest = -INFINITY;
  for (int i = 0; i < team.teams(); ++i) largest = fmaxf(largest, value(i, 0));
  float total = 0;
  for (int i = 0; i < team.teams(); ++i) {
    if (largest > -INFINITY) total += value(i, 1) * ptx::exp2_approx(value(i, 0) - largest);
  }
  const float own = reference[block][half];
  scale_output(block, half, total > 0 ? ptx::exp2_approx(own - largest) / total : 0);
  reference[block][half] = largest;
  sum[block][half] = total;
}

/// Sums and outputs of all teams come together in the last one; outputs are divided by the sums.
/// Gives whether this warp is of the last team.
template <TileShape kShape>
__device__ __forceinline__ bool Warp<kShape>::merge() {
  share_sums();
  __syncthreads();
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) merge_sums(block, half);
  }
  const std::uint32_t shared = memory.merge(team.row_warp()) + team.lane * 16;
  for (int turn = 0; turn < team.teams(); ++turn) {
    if (turn == team.team()) {
#pragma unroll
      for (int i = 0; i < kBlocks * kOutputTiles; ++i) {
        float(&tile)[4] = output[i / kOutputTiles][i % kOutputTiles];
        if (turn > 0) {
          float before[4];
          ptx::load_shared(before, shared + i * 512);
#pragma unroll
          for (int e = 0; e < 4; ++e) tile[e] += before[e];
        }
        if (turn + 1 < team.teams()) ptx::store_shared(shared + i * 512, tile);
      }
    }
    if (turn + 1 < team.teams()) __syncthreads();
  }
  return team.team() + 1 == team.teams();
}

/// A row as bf16: each lane writes 16 bytes of every 64.
template <TileShape kShape>
__device__ __forceinline__ void Warp<kShape>::store_output(int block, int half) const {
  const int of_tile = tile_row(block, half);
  std::uint16_t* const target = arguments.output + global_row(of_tile) * arguments.d_v;
#pragma unroll
  for (int n = 0; n < kOutputTiles; n += 4) {
    std::uint32_t packed[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float* of_row = output[block][n + i] + 2 * half;
      packed[i] = ptx::pack_bf16(of_row[0], of_row[1]);
    }
    quad_transpose(packed, team.lane);
    const int dim = (n + team.lane % 4) * 8;
    if (is_row(of_tile) && dim < arguments.d_v) {
      *reinterpret_cast<uint4*>(target + dim) =
          make_uint4(packed[0], packed[1], packed[2], packed[3]);
    }
  }
}

template <TileShape kShape>
__device__ __forceinline__ void Warp<kShape>::store_partial(int block, int half) const {
  const int of_tile = tile_row(block, half);
  if (!is_row(of_tile)) return;
  const std::int64_t row = std::int64_t{item.slot} * arguments.tile_rows + of_tile;
  float* const target = arguments.partial_output + row * arguments.d_v + team.lane % 4 * 2;
#pragma unroll
  for (int n = 0; n < kOutputTiles; ++n) {
    if (n * 8 >= arguments.d_v) continue;
    const float* of_row = output[block][n] + 2 * half;
    *reinterpret_cast<float2*>(target + n * 8) = make_float2(of_row[0], of_row[1]);
  }
}

template <TileShape kShape>
__device__ __forceinline__ void Warp<kShape>::finish() {
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float total = quad_sum(sum[block][half]);
      sum[block][half] = total;
      if (team.teams() == 1) scale_output(block, half, total > 0 ? 1 / total : 0);
    }
  }
  if (team.teams() > 1 && !merge()) return;
  const bool whole = item.slot < 0;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (whole) {
        store_output(block, half);
      } else {
        store_partial(block, half);
      }
      const int of_tile = tile_row(block, half);
      if (!is_row(of_tile) || team.lane % 4 != 0) continue;
      const float total = sum[block][half];
      const float lse =
          total > 0 ? (reference[block][half] + log2f(total)) * split::kLn2 : -INFINITY;
      if (whole) {
        arguments.lse[global_row(of_tile)] = lse;
      } else {
        arguments.partial_lse[std::int64_t{item.slot} * arguments.tile_rows + of_tile] = lse;
      }
    }
  }
}

}  // namespace headsplit::kernels::per_head
