#pragma once

#include "kernels/per_head/hopper_output.cuh"
#include "kernels/per_head/hopper_softmax.cuh"

/// A warpgroup's items from the first to the last.
namespace headsplit::kernels::per_head::hopper {

/// The step from `token` on is for the other group only.
template <Shape kShape>
__device__ __forceinline__ void Consumer<kShape>::pass(int token) {
  wait(memory.keys_full(keys.stage), keys.parity);
  scores_done();
  if (both && item.token_end - token < kShape.tokens) clear_values(item.token_end - token);
  wait(memory.values_full(values.stage), values.parity);
  output_done();
}

/// All steps of the item, from the last to the first.  The scores of a step are under way beside
/// the output of the one before.
template <Shape kShape>
__device__ __forceinline__ void Consumer<kShape>::attend() {
  int steps = (item.token_end - item.token_begin + kShape.tokens - 1) / kShape.tokens;
  int token = item.token_begin + (steps - 1) * kShape.tokens;
  wait(memory.query_full(), query_parity);
  query_parity ^= 1;
  for (; steps > 1 && group_end <= token; --steps, token -= kShape.tokens) pass(token);
  start_scores();
  wgmma::wait<0>();
  scores_done();
  weigh(token);
  pack();
  if (item.token_end - token < kShape.tokens) clear_values(item.token_end - token);
  for (int step = 1; step < steps; ++step) {
    start_scores();
    start_output(step > 1);
    token -= kShape.tokens;
    wgmma::wait<1>();
    scores_done();
    const bool moves = weigh(token);
    wgmma::wait<0>();
    output_done();
    if (moves) {
#pragma unroll
      for (int i = 0; i < kShape.d_v / 2; ++i) output[i] *= factor[i / 2 % 2];
    }
    pack();
  }
  release(memory.query_empty());
  start_output(steps > 1);
  wgmma::wait<0>();
  output_done();
  store();
}

/// All rows are the other group's.
template <Shape kShape>
__device__ __forceinline__ void Consumer<kShape>::pass_all() {
  wait(memory.query_full(), query_parity);
  query_parity ^= 1;
  release(memory.query_empty());
  for (int token = item.token_begin; token < item.token_end; token += kShape.tokens) pass(token);
}

template <Shape kShape>
__device__ __forceinline__ void Consumer<kShape>::run() {
  const int end = arguments.item_begin[blockIdx.x + 1];
  for (int i = arguments.item_begin[blockIdx.x]; i < end; ++i) {
    const WorkItem next = arguments.items[i];
    if (next.token_begin >= next.token_end) {
      item = next;
      if (group == 0) store_nothing();
      continue;
    }
    begin(next);
    if (group == 1 && !both) {
      pass_all();
    } else {
      attend();
    }
  }
}

}  // namespace headsplit::kernels::per_head::hopper
