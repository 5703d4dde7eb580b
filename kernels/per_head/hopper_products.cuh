#pragma once

#include "kernels/device/wgmma.cuh"
#include "kernels/per_head/hopper_shape.h"

/// The two products of a step, for one warpgroup.  Neither waits for its end.
namespace headsplit::kernels::per_head::hopper {

/// d[64, tokens] = queries x keys.
template <Shape kShape>
__device__ __forceinline__ void multiply_keys(float (&scores)[kShape.tokens / 2],
                                              std::uint32_t query, std::uint32_t keys) {
  const std::uint64_t a = wgmma::k_major<wgmma::Swizzle::bytes_128>(query);
  const std::uint64_t b = wgmma::k_major<wgmma::Swizzle::bytes_128>(keys);
  wgmma::fence();
#pragma unroll
  for (int step = 0; step < kShape.d_k / 16; ++step) {
    const int slice = step / 4;
    const int in_row = step % 4 * 2;  // 32 bytes / 16
    const std::uint64_t of_query = a + slice * (kShape.query_slice_bytes() / 16) + in_row;
    const std::uint64_t of_keys = b + slice * (kShape.slice_bytes() / 16) + in_row;
    if constexpr (kShape.tokens == 128) {
      wgmma::m64n128k16(scores, of_query, of_keys, step > 0, wgmma::KMajor{});
    } else {
      wgmma::m64n64k16(scores, of_query, of_keys, step > 0, wgmma::KMajor{});
    }
  }
  wgmma::commit();
}

/// output[64, d_v] = (add ? output : 0) + weights x values.
template <Shape kShape>
__device__ __forceinline__ void multiply_values(float (&output)[kShape.d_v / 2],
                                                const std::uint32_t (&weights)[kShape.tokens / 4],
                                                std::uint32_t values, bool add) {
  const std::uint64_t b = wgmma::n_major(values, kShape.slice_bytes());
  wgmma::written(output);
  wgmma::fence();
#pragma unroll
  for (int step = 0; step < kShape.tokens / 16; ++step) {
    const std::uint32_t a[4] = {weights[4 * step], weights[4 * step + 1], weights[4 * step + 2],
                                weights[4 * step + 3]};
    const std::uint64_t of_values = b + step * (16 * kTileRowBytes / 16);
    if constexpr (kShape.d_v == 64) {
      wgmma::m64n64k16(output, a, of_values, add || step > 0, wgmma::NMajor{});
    } else if constexpr (kShape.d_v == 128) {
      wgmma::m64n128k16(output, a, of_values, add || step > 0, wgmma::NMajor{});
    } else {
      wgmma::m64n256k16(output, a, of_values, add || step > 0, wgmma::NMajor{});
    }
  }
  wgmma::commit();
}

}  // namespace headsplit::kernels::per_head::hopper
