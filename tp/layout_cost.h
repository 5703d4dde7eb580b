#pragma once

#include <string>
#include <vector>

#include "tp/correction.h"
#include "tp/kernel_cost.h"

namespace headsplit::tp {

/// What one rank of a layout does, and what the layout keeps of one rank alone: attention core (of
/// mla_layer: the whole layer), one layer, no causal discount in decode.
struct LayoutRow {
  std::string layout;
  int local_heads = 0;
  double flops = 0;
  double hbm_bytes = 0;
  double kv_bytes = 0;
  double qo_bytes = 0;
  double kv_memory_bytes_per_layer = 0;
  double intensity_flop_per_byte = 0;
  double time_us = 0;
  Limiter limiter = Limiter::unknown;
  double kv_duplication = 1;  ///< ranks that hold each cached token
  double speedup = 1;         ///< over one rank with everything
  double tp_efficiency = 1;   ///< speedup / ranks
  double reuse_retained = 1;  ///< intensity over that of one rank

  bool operator==(const LayoutRow&) const = default;
};
BOOST_DESCRIBE_STRUCT(LayoutRow, (),
                      (layout, local_heads, flops, hbm_bytes, kv_bytes, qo_bytes,
                       kv_memory_bytes_per_layer, intensity_flop_per_byte, time_us, limiter,
                       kv_duplication, speedup, tp_efficiency, reuse_retained))

/// Each layout of a point, in the order given.  mla_mixed keeps as many tokens expanded as is
/// fastest for each layout.  Fails: config (as kernel_work, for the first layout it fails for).
Result<std::vector<LayoutRow>> layout_rows(const Model& model, const Point& point,
                                           const std::vector<Layout>& layouts,
                                           const TimeModel& times, const CostOptions& options = {});

/// Tokens of the whole context to keep expanded so that mla_mixed is fastest; 0 for other kernels.
std::int64_t expanded_tokens_for(const Model& model, const Point& point, const Rates& rates);

/// MMA rows that a 64-row tile computes for nothing, of one request: what FlashMLA pads.
int padded_rows(int local_heads, int query_tokens, int tile_rows = 64);

}  // namespace headsplit::tp
