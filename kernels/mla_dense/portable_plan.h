#pragma once

#include <cstdint>
#include <vector>

#include "kernels/mla_dense/portable_arguments.h"
#include "kernels/problem.h"

namespace headsplit::kernels::portable {

/// What a plan is made for.
struct PlanRequest {
  int rows_max = 64;     ///< packed rows that one CTA can take
  int tile_tokens = 64;  ///< tokens of one step
  int ctas = 132;        ///< CTAs that run at once
  int num_splits = 0;    ///< 0: as the CTAs are best shared; else parts of each request
};

/// Who computes what: CTA c takes items[item_begin[c]] .. items[item_begin[c + 1] - 1], in order.
struct SplitPlan {
  int tile_rows = 0;  ///< packed rows of a tile, a multiple of 16
  int row_tiles = 0;  ///< tiles of one request's packed rows
  int width = 0;      ///< row tiles that run side by side, so that the cache is read from L2
  int num_splits = 0;
  int slot_count = 0;  ///< partials
  std::vector<WorkItem> items;
  std::vector<std::int32_t> item_begin;  ///< [ctas + 1]
  std::vector<MergeItem> merges;         ///< row tiles of more than one part

  int ctas() const { return static_cast<int>(item_begin.size()) - 1; }
};

/// Cut the batch into runs of nearly equal work.  Row tiles of one request and run of tokens go to
/// neighbouring CTAs.  Pure arithmetic: equal in, equal out.
SplitPlan plan_splits(const Problem& problem, const PlanRequest& request);

}  // namespace headsplit::kernels::portable
