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

/// Tile: a type with the Widths as `kWidths` (nvcc 13.0 cannot spell the value itself in its host
/// stubs).
template <class Tile>
__global__ void __launch_bounds__(32 * kWarps, Tile::kWidths.ctas_per_sm)
    split_kernel(const __grid_constant__ SplitArguments arguments) {
  constexpr Widths kWidths = Tile::kWidths;
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  const SharedMemory<kWidths> memory{ptx::shared_address(shared_bytes), arguments.stages};
  ptx::allow_dependent_launch();  // the combine kernel waits for the end of this one itself
  if (arguments.d_k < kWidths.d_k) memory.clear();
  const Team team = Team::of_this_warp(arguments);
  const std::uint64_t policy =
      arguments.read_once ? ptx::evict_first_policy() : ptx::evict_normal_policy();
  Warp<kWidths> warp{
      .arguments = arguments,
      .memory = memory,
      .team = team,
      .loader = {.arguments = arguments, .memory = memory, .team = team, .policy = policy}};
  warp.run(arguments.item_begin[blockIdx.x], arguments.item_begin[blockIdx.x + 1]);
}

/// The row of a table of instantiations.
template <class Tile>
constexpr HeadKernel head_kernel_of(double step_us) {
  constexpr Widths kWidths = Tile::kWidths;
  return {.name = "mma.sync",
          .d_k_max = kWidths.d_k,
          .d_v_max = kWidths.d_v,
          .rows = kRowsMax,
          .block_rows = kBlock,
          .tokens = kStepTokens,
          .threads = 32 * kWarps,
          .ctas_per_sm = kWidths.ctas_per_sm,
          .fixed_bytes = kWidths.fixed_bytes(),
          .stage_bytes = kWidths.stage_bytes(),
          .stages_max = kStagesMax,
          .step_us = step_us,
          .portable = split_kernel<Tile>};
}

}  // namespace headsplit::kernels::per_head
