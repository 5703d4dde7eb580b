#pragma once

#include <cstdint>

#include "kernels/dsa_indexer/shape.h"

/// Tiles and shared memory of the kernels that score tokens.
namespace headsplit::kernels::indexer {

/// A CTA is four warps; a step is 64 tokens, 16 of them a warp.
constexpr int kTokens = 64;
constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;
constexpr int kTileKeys = kTokens * kDim;  ///< bytes
/// A tile as it lies in a page of 64 tokens: keys, then scales.
constexpr int kStageBytes = kTokens * kKeyBytes;
/// Query tokens that one CTA takes at once: more are other CTAs, which read the keys from L2.
constexpr int kGroupTokens = 4;
constexpr int kStagesMax = 16;

/// Memory map of a CTA's shared memory.  kHeads: index heads rounded up to 16, 32 or 64.
///   queries [group_tokens, kHeads] rows | weights [group_tokens, kHeads] | barriers | stages
/// query_row_bytes: of one head.
struct ScoreMemory {
  int heads = 64;
  int query_row_bytes = kDim;
  int group_tokens = 1;

  constexpr int weights() const { return group_tokens * heads * query_row_bytes; }
  constexpr int barriers() const { return weights() + group_tokens * heads * 4; }
  constexpr int stages() const { return (barriers() + 2 * kStagesMax * 8 + 127) / 128 * 128; }
  constexpr int bytes(int stage_count) const { return stages() + stage_count * kStageBytes; }
};

}  // namespace headsplit::kernels::indexer
