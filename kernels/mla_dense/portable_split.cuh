// Absorbed MLA decode attention (the latent is key and value of every head), paged, ragged, causal:
//   s_rj = scale x q_r . k_j,  p_r = softmax(s_r),  out_r = sum_j p_rj k_j[0 .. d_latent)
// for the packed rows r (query token x head) of each request and the tokens j that row attends to.
// Shapes and types: portable_arguments.h.  Instructions: mma.sync m16n8k16, cp.async, ldmatrix.
// Bound: bytes up to about 64 rows (2 x rows FLOP a byte); beyond, the rate of mma.sync, which on
// Hopper is 63 % of wgmma's, and the 128 bytes a clock of shared memory.  Arithmetic and
// measurements: docs/mla-dense-portable.md.
#pragma once

#include "kernels/mla_dense/portable_kernels.h"
#include "kernels/mla_dense/portable_producer.cuh"
#include "kernels/mla_dense/portable_run.cuh"

namespace headsplit::kernels::portable {

/// Tile: a type with the TileShape as `kShape` (nvcc 13.0 cannot spell the value itself in its host
/// stubs).
template <class Tile>
__global__ void __launch_bounds__(Tile::kShape.threads(), Tile::kShape.ctas_per_sm)
    split_kernel(const __grid_constant__ SplitArguments arguments) {
  constexpr TileShape kShape = Tile::kShape;
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  const SharedMemory<kShape> memory{ptx::shared_address(shared_bytes)};
  if (threadIdx.x == 0) memory.init_barriers(arguments.stages);
  __syncthreads();
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int item_begin = arguments.item_begin[blockIdx.x];
  const int item_end = arguments.item_begin[blockIdx.x + 1];
  if (warp < kShape.consumer_warps()) {
    Consumer<kShape> consumer{.arguments = arguments,
                              .memory = memory,
                              .group = warp / TileShape::kGroupWarps,
                              .warp = warp % TileShape::kGroupWarps,
                              .lane = lane};
    consumer.run(item_begin, item_end);
  } else if constexpr (kShape.has_producers()) {
    Producer<kShape> producer{
        arguments, memory, {.warp = warp - kShape.consumer_warps(), .lane = lane}};
    producer.run(item_begin, item_end);
  }
  ptx::allow_dependent_launch();
}

/// The row of a table of instantiations.
template <class Tile>
constexpr SplitKernel split_kernel_of() {
  return {Tile::kShape, split_kernel<Tile>};
}

}  // namespace headsplit::kernels::portable
