#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "core/result.h"
#include "kernels/split/work_item.h"

namespace headsplit::kernels::split {

/// That many merges travel with the arguments: they cost no trip to memory.
constexpr int kInlineMerges = 160;

/// partial_output [slots, tile_rows, width] and partial_lse [slots, tile_rows] fp32; output [batch,
/// query_tokens, kv_heads x group_heads, width] bf16; lse [batch, query_tokens, kv_heads x
/// group_heads] fp32.  width: a multiple of 16.
struct CombineArguments {
  const MergeItem* merges = nullptr;  ///< [merge_count]; null: inline_merges
  const float* partial_output = nullptr;
  const float* partial_lse = nullptr;
  std::uint16_t* output = nullptr;
  float* lse = nullptr;
  std::int32_t merge_count = 0;
  std::int32_t packed_rows = 0;  ///< of a sequence
  std::int32_t tile_rows = 0;
  std::int32_t width = 0;
  std::int32_t kv_heads = 1;     ///< sequences of a request
  std::int32_t group_heads = 1;  ///< query heads of a sequence; not used with one KV head
  MergeItem inline_merges[kInlineMerges] = {};
  const float* sinks = nullptr;  ///< [packed_rows], of one KV head: mla_sparse's; null: none
};

constexpr int kCombineDims = 128;  ///< dimensions that one warp merges

/// Merges partials by their LSEs.  Its launch: grid (rows of a tile x warps of kCombineDims over
/// the outputs of a CTA, merge_count).
struct CombineKernel {
  int threads = 128;
  int split_warps = 1;  ///< warps that share the partials of one output
  void (*function)(CombineArguments) = nullptr;

  constexpr int outputs() const { return threads / 32 / split_warps; }
};
/// For few partials a row, and for many.  sinks: add those of the arguments to the denominators.
std::span<const CombineKernel> combine_kernels(bool sinks);

/// Puts the merges into the arguments, where they fit.
void carry_merges(CombineArguments& arguments, std::span<const MergeItem> merges);

/// How the combine kernel is launched.
struct CombineLaunch {
  int num_splits = 1;     ///< most partials of a row
  bool overlaps = false;  ///< right behind the split kernel, on a GPU that can start it early: its
                          ///< CTAs wait for that one themselves
  cudaStream_t stream = nullptr;
};
/// Fails: cuda.
Result<void> launch_combine(const CombineArguments& arguments, const CombineLaunch& how);

}  // namespace headsplit::kernels::split
