// Absorbed MLA decode attention (the latent is key and value of every head), paged, ragged, causal:
//   s_rj = scale x q_r . k_j,  p_r = softmax(s_r),  out_r = sum_j p_rj k_j[0 .. d_latent)
// for the packed rows r (query token x head) of each request and the tokens j that row attends to.
// Shapes and types: split_arguments.h.  Instructions: mma.sync m16n8k16, cp.async, ldmatrix.
// Bound: bytes up to about 64 rows (2 x rows FLOP a byte); beyond, the rate of mma.sync, which on
// Hopper is 63 % of wgmma's, and the 128 bytes a clock of shared memory.  Arithmetic and
// measurements: docs/mla-dense-portable.md.
#pragma once

#include "kernels/mla_dense/portable_producer.cuh"
#include "kernels/mla_dense/portable_run.cuh"
#include "kernels/mla_dense/split_kernel.h"

namespace headsplit::kernels::dense {

/// Tile: a type with the TileShape as `kShape` (nvcc 13.0 cannot spell the value itself in its host
/// stubs).
template <class Tile>
__global__ void __launch_bounds__(Tile::kShape.threads(), Tile::kShape.ctas_per_sm)
    split_kernel(const __grid_constant__ SplitArguments arguments) {
  constexpr TileShape kShape = Tile::kShape;
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  const SharedMemory<kShape> memory{ptx::shared_address(shared_bytes)};
  ptx::allow_dependent_launch();  // the combine kernel waits for the end of this one itself
  if (threadIdx.x == 0) memory.init_barriers(arguments.stages);
  __syncthreads();
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const CtaItems items = CtaItems::of_this_cta(arguments);
  if (warp < kShape.consumer_warps()) {
    Consumer<kShape> consumer{.arguments = arguments,
                              .memory = memory,
                              .group = warp / TileShape::kGroupWarps,
                              .warp = warp % TileShape::kGroupWarps,
                              .lane = lane};
    consumer.run(items);
  } else if constexpr (kShape.has_producers()) {
    Producer<kShape> producer{
        arguments, memory, {.warp = warp - kShape.consumer_warps(), .lane = lane}};
    producer.run(items);
  }
}

/// Measured on an H200, cache tiles in time: 64 tokens for 16, 32 and 64 rows.
constexpr double step_us(const TileShape& shape) {
  const double us = shape.rows() <= 16 ? 1.5 : shape.rows() <= 32 ? 2.0 : 3.0;
  return us * shape.tokens / 64;
}

/// The same: what the first item of a CTA costs besides.
constexpr double start_us(const TileShape& shape) { return shape.rows() <= 16 ? 0.9 : 2.8; }

/// The row of a table of instantiations.
template <class Tile>
constexpr SplitKernel split_kernel_of() {
  constexpr TileShape kShape = Tile::kShape;
  return {.name = "mma.sync",
          .rows = kShape.rows(),
          .block_rows = TileShape::kBlockRows,
          .tokens = kShape.tokens,
          .threads = kShape.threads(),
          .ctas_per_sm = kShape.ctas_per_sm,
          .fixed_bytes = kShape.fixed_bytes(),
          .stage_bytes = kShape.stage_bytes(),
          .stages_max = kShape.stages_max(),
          .step_us = step_us(kShape),
          .start_us = start_us(kShape),
          .function = split_kernel<Tile>};
}

}  // namespace headsplit::kernels::dense
