#pragma once

#include "kernels/device/quad.cuh"
#include "kernels/device/wgmma.cuh"
#include "kernels/mla_dense/hopper_load.cuh"
#include "kernels/mla_dense/hopper_shape.h"
#include "kernels/mla_dense/portable_memory.cuh"
#include "kernels/mla_dense/split_arguments.h"

/// A warpgroup that multiplies weights with values: 64 rows, 256 of the latent dimensions.
namespace headsplit::kernels::dense::hopper {

template <bool kGather>
struct ValuesGroup {
  const SplitArguments& arguments;
  SharedMemory memory;
  int half_of_dims;  ///< 0 or 1
  int warp;
  int lane;

  /// [8 x i + 2 x (lane % 4) + {0, 1}] of rows lane / 4 and 8 below it, in [4 x i + 2 x half + ..].
  float output[kValuesDims / 2];
  float factor[2];  ///< of this thread's rows at the item's end
  RingPosition ring{};
  HalfTileLoader<kGather> loader;

  __device__ void group_barrier() const {
    ptx::barrier_sync(kScoresBarrier + 1 + half_of_dims, kGroupThreads);
  }
  __device__ int row(int half) const { return warp * 16 + half * 8 + lane / 4; }
  __device__ void load_factors(bool inverse) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      factor[half] = __uint_as_float(ptx::load_shared(
          inverse ? memory.inverse(ring.stage, row(half)) : memory.rescale(ring.stage, row(half))));
    }
  }
  __device__ void rescale() {
#pragma unroll
    for (int i = 0; i < kValuesDims / 2; ++i) output[i] *= factor[i / 2 % 2];
  }

  __device__ void refill();
  __device__ void multiply(bool first, bool last);
  __device__ void store(const WorkItem& item) const;
  __device__ void store_output(std::uint16_t* values, int half, bool real) const;
  __device__ void store_partial(float* values, int half, bool real) const;
  __device__ void run();
};

/// Fills the stage of the tile before this one again.
template <bool kGather>
__device__ __forceinline__ void ValuesGroup<kGather>::refill() {
  loader.start(ring.stage == 0 ? kStages - 1 : ring.stage - 1);
  loader.find();
}

template <bool kGather>
__device__ __forceinline__ void ValuesGroup<kGather>::multiply(bool first, bool last) {
  // The refill of the last stage comes while the products run, unless there is time before.  (Warps
  // may differ: nothing of the whole group is waited for in it.)
  const bool behind = ptx::mbarrier_try_wait(memory.weighed(ring.stage), ring.parity);
  if (!behind) {
    refill();
    wait(memory.weighed(ring.stage), ring.parity);
  }
  if (ptx::load_shared(memory.rescale_flag(ring.stage, warp)) != 0) {
    load_factors(false);
    rescale();
  }
  const std::uint64_t weights =
      wgmma::k_major<wgmma::Swizzle::bytes_64>(memory.weights(ring.stage));
  const std::uint64_t values = wgmma::n_major(
      memory.stage(ring.stage) + half_of_dims * (kValuesDims / kTileRowValues) * kKeySliceBytes,
      kKeySliceBytes);
  wgmma::written(output);
  wgmma::fence();
#pragma unroll
  for (int step = 0; step < kTokens / 16; ++step) {
    wgmma::m64n256k16(output, weights + step * 2, values + step * (16 * kTileRowBytes / 16),
                      !first || step > 0);
  }
  wgmma::commit();
  if (behind) refill();
  if (last) load_factors(true);
  wgmma::wait<0>();
  wgmma::written(output);
  group_barrier();  // all warps have used the values
  ring.advance(kStages);
}

template <bool kGather>
__device__ __forceinline__ void ValuesGroup<kGather>::store(const WorkItem& item) const {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const bool real = row(half) < item.row_count;
    const std::int64_t column = half_of_dims * kValuesDims;
    if (item.slot < 0) {
      const std::int64_t target =
          std::int64_t{item.request} * arguments.packed_rows + item.row_begin + row(half);
      store_output(arguments.output + target * kTile.d_latent + column, half, real);
    } else {
      const std::int64_t target = std::int64_t{item.slot} * arguments.tile_rows + row(half);
      store_partial(arguments.partial_output + target * kTile.d_latent + column, half, real);
    }
  }
}

/// A row's 256 values as bf16: each lane writes 16 bytes of every 64.
template <bool kGather>
__device__ __forceinline__ void ValuesGroup<kGather>::store_output(std::uint16_t* values, int half,
                                                                   bool real) const {
#pragma unroll
  for (int i = 0; i < kValuesDims / 8; i += 4) {
    std::uint32_t packed[4];
#pragma unroll
    for (int block = 0; block < 4; ++block) {
      const float* of_block = output + 4 * (i + block) + 2 * half;
      packed[block] = ptx::pack_bf16(of_block[0] * factor[half], of_block[1] * factor[half]);
    }
    quad_transpose(packed, lane);
    if (real) {
      *reinterpret_cast<uint4*>(values + (i + lane % 4) * 8) =
          make_uint4(packed[0], packed[1], packed[2], packed[3]);
    }
  }
}

/// Two lanes of a quad put their halves of two blocks of 8 together: 16 bytes a store.
template <bool kGather>
__device__ __forceinline__ void ValuesGroup<kGather>::store_partial(float* values, int half,
                                                                    bool real) const {
  const bool odd = lane % 2 != 0;
  float* const target = values + lane % 2 * 8 + lane % 4 / 2 * 4;
#pragma unroll
  for (int i = 0; i < kValuesDims / 8; i += 2) {
    const float* low = output + 4 * i + 2 * half;
    const float* high = low + 4;
    const float2 kept = odd ? make_float2(high[0], high[1]) : make_float2(low[0], low[1]);
    const float2 given = odd ? make_float2(low[0], low[1]) : make_float2(high[0], high[1]);
    const float2 got = make_float2(__shfl_xor_sync(0xFFFFFFFF, given.x, 1),
                                   __shfl_xor_sync(0xFFFFFFFF, given.y, 1));
    const float2 first = odd ? got : kept;
    const float2 second = odd ? kept : got;
    if (real) {
      *reinterpret_cast<float4*>(target + i * 8) =
          make_float4(first.x * factor[half], first.y * factor[half], second.x * factor[half],
                      second.y * factor[half]);
    }
  }
}

template <bool kGather>
__device__ __forceinline__ void ValuesGroup<kGather>::run() {
  loader.begin();
  loader.find();
  for (int stage = 0; stage + 1 < kStages; ++stage) {
    loader.start(stage);
    loader.find();
  }
  for (int i = loader.items.begin; i < loader.items.end; ++i) {
    const WorkItem item = loader.items.get(i);
    const int tiles = (item.token_end - item.token_begin + kTokens - 1) / kTokens;
    if (tiles == 0) {
#pragma unroll
      for (int e = 0; e < kValuesDims / 2; ++e) output[e] = 0;
      factor[0] = factor[1] = 0;
    }
    for (int tile = 0; tile < tiles; ++tile) multiply(tile == 0, tile + 1 == tiles);
    store(item);
  }
  ptx::cp_async_wait_all();
}

}  // namespace headsplit::kernels::dense::hopper
