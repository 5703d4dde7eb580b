#pragma once

#include <cstdint>
#include <vector>

#include "kernels/per_head/hopper_arguments.h"
#include "kernels/problem.h"

namespace headsplit::kernels::per_head {

/// What a plan of whole tiles depends on beside the problem.
struct TileLimits {
  int ctas = 1;
  int rows = 128;    ///< packed rows that a CTA has room for
  int tokens = 128;  ///< of one step
  double l2_bytes = 0;
};

/// Tiles of packed rows over CTAs, none of them split over the context.
struct TilePlan {
  std::vector<hopper::WorkItem> items;   ///< by CTA, in the order it takes them
  std::vector<std::int32_t> item_begin;  ///< [ctas + 1]
  int tile_rows = 0;                     ///< rows of a tile: a multiple of the heads of a group
  int row_tiles = 0;                     ///< of one request and KV head

  int ctas() const { return static_cast<int>(item_begin.size()) - 1; }
  bool operator==(const TilePlan&) const = default;
};

/// Many query tokens (prefill): each tile goes to the CTA that has the least to do, longer tiles
/// first.  KV heads are taken a few at a time, as many as half of L2 holds the keys and values of:
/// the tiles of a head, which all read them, are then under way together.
TilePlan plan_tiles(const Problem& problem, const TileLimits& limits);

}  // namespace headsplit::kernels::per_head
