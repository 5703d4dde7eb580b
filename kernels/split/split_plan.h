#pragma once

#include <cstdint>
#include <vector>

#include "kernels/problem.h"
#include "kernels/split/sequences.h"
#include "kernels/split/split_share.h"
#include "kernels/split/work_item.h"

namespace headsplit::kernels::split {

/// What a plan is chosen by, in microseconds: measured once for each kernel (docs/mla-dense.md),
/// and only good enough to rank plans.
struct PlanCost {
  double step_us = 1.5;                 ///< one step of a CTA whose cache tiles are there in time
  double alone_step_us = 0;             ///< the same with an SM to itself; 0: step_us
  double item_us = 2;                   ///< queries in, pipeline filled and drained, output out
  double start_us = 1;                  ///< what the first item of a CTA costs besides
  double merge_us = 1.7;                ///< the combine kernel behind the split kernel
  double partial_bytes_per_us = 3.2e6;  ///< partials, written and read again
  double cache_bytes_per_us = 4.4e6;    ///< all CTAs together
  double l2_bytes_per_us = 9e6;         ///< the same where row tiles side by side read a tile
};

/// What a plan is made for.
struct PlanRequest {
  int rows_max = 64;     ///< packed rows that one CTA can take
  int row_step = 16;     ///< a tile has a multiple of so many, at most rows_max
  int tile_tokens = 64;  ///< tokens of one step
  int ctas = 132;        ///< CTAs that run at once
  int ctas_per_sm = 1;   ///< of these
  int num_splits = 0;    ///< 0: the cheapest plan; else parts of each sequence
  PlanCost cost;
};

/// Who computes what: CTA c takes items[item_begin[c]] .. items[item_begin[c + 1] - 1], in order.
struct SplitPlan {
  int tile_rows = 0;  ///< packed rows of a tile, a multiple of row_step
  int row_tiles = 0;  ///< tiles of one sequence's packed rows
  int width = 0;      ///< row tiles that run side by side, so that the cache is read from L2
  int num_splits = 0;
  int slot_count = 0;       ///< partials
  double estimated_us = 0;  ///< by the costs, without the launch
  std::vector<WorkItem> items;
  std::vector<std::int32_t> item_begin;  ///< [ctas + 1]
  std::vector<MergeItem> merges;         ///< row tiles of more than one part

  int ctas() const { return static_cast<int>(item_begin.size()) - 1; }
  bool one_item_each() const;
};

/// Cuts the batch into runs of work: whole sequences (requests, or their KV heads), equal parts of
/// all of them, or equal shares of all CTAs, whichever the costs say is done first.  Row tiles of
/// one sequence and run of tokens go to neighbouring CTAs.  Pure arithmetic: equal in, equal out.
SplitPlan plan_splits(const Problem& problem, const PlanRequest& request);

}  // namespace headsplit::kernels::split
