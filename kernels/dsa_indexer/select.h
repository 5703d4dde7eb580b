#pragma once

#include "kernels/dsa_indexer/arguments.h"

namespace headsplit::kernels::indexer {

constexpr int kSelectThreads = 1024;

/// Most CTAs that share a row: a cluster.
constexpr int kSelectCtasMax = 8;

/// Chooses the top_k tokens of each row with the largest scores.  Of equal scores the earlier token
/// wins, so that the choice is a function of the scores; it is written in the order of tokens.
/// Its launch: grid (CTAs of a row x rows), clusters of the CTAs of a row.
struct SelectKernel {
  int shared_bytes = 0;
  void (*function)(SelectArguments) = nullptr;
};
SelectKernel select_kernel();

}  // namespace headsplit::kernels::indexer
