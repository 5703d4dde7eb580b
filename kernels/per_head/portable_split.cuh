// Attention over per-head keys and values (MHA, GQA, MQA, expanded MLA), paged, ragged, causal:
//   s_rj = scale x q_r . k_j,  p_r = softmax(s_r),  out_r = sum_j p_rj v_j
// for the packed rows r (query token x query head of the KV head) of each request and KV head, and
// the tokens j that each row attends to.  Shapes and types: split_arguments.h.
// Instructions: mma.sync m16n8k16, cp.async, ldmatrix.
// Bound: bytes up to some 16 rows (2 x rows FLOP a byte); beyond, the fixed wait after products
// that depend on each other, with two warps a scheduler.
// Arithmetic and measurements: docs/per-head.md.
#pragma once

#include "kernels/per_head/head_kernel.h"
#include "kernels/per_head/portable_attend.cuh"
#include "kernels/per_head/portable_finish.cuh"

namespace headsplit::kernels::per_head {

/// Tile: a type with the TileShape as `kShape` (nvcc 13.0 cannot spell the value itself in its host
/// stubs).
template <class Tile>
__global__ void __launch_bounds__(32 * kWarps, Tile::kShape.ctas_per_sm)
    split_kernel(const __grid_constant__ SplitArguments arguments) {
  constexpr TileShape kShape = Tile::kShape;
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  const SharedMemory<kShape> memory{ptx::shared_address(shared_bytes), arguments.stages};
  ptx::allow_dependent_launch();  // the combine kernel waits for the end of this one itself
  if (arguments.d_k < kShape.d_k) memory.clear();
  const Team team = Team::of_this_warp(arguments.tile_rows, kShape.warp_rows());
  const std::uint64_t policy =
      arguments.read_once ? ptx::evict_first_policy() : ptx::evict_normal_policy();
  const CtaItems items = CtaItems::of_this_cta(arguments);
  Warp<kShape> warp{.arguments = arguments,
                    .items = items,
                    .memory = memory,
                    .team = team,
                    .loader = {.arguments = arguments,
                               .items = items,
                               .memory = memory,
                               .team = team,
                               .policy = policy}};
  warp.run();
}

/// The row of a table of instantiations.
template <class Tile>
constexpr HeadKernel head_kernel_of() {
  constexpr TileShape kShape = Tile::kShape;
  return {.name = "mma.sync",
          .d_k_max = kShape.d_k,
          .d_v_max = kShape.d_v,
          .rows_min = kShape.shares_query() ? TileShape::kSharedRowsMin : 1,
          .rows_limit = kShape.shares_query() ? kShape.rows() : HeadKernel{}.rows_limit,
          .rows = kShape.rows(),
          .block_rows = kBlock,
          .tokens = kStepTokens,
          .threads = 32 * kWarps,
          .ctas_per_sm = kShape.ctas_per_sm,
          .fixed_bytes = kShape.fixed_bytes(),
          .stage_bytes = kShape.stage_bytes(),
          .stages_max = kStagesMax,
          .cta_bytes_per_us = kShape.ctas_per_sm > 1 ? 27e3 : 33e3,
          .block_us = kShape.shares_query() ? 0.15 : 0.35,
          .portable = split_kernel<Tile>};
}

}  // namespace headsplit::kernels::per_head
