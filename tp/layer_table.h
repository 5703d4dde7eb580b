#pragma once

#include <string>
#include <vector>

#include "tp/kernel_cost.h"
#include "tp/roofline.h"

namespace headsplit::tp {

/// One part of an attention layer on one rank.
struct LayerPart {
  std::string part;     ///< "q_a", ..., "attention core"
  std::string sharing;  ///< "copied", "by heads", "by heads and context"
  double flops = 0;
  double weight_bytes = 0;
  double hbm_bytes = 0;  ///< weights, cache, queries and outputs
  double time_us = 0;    ///< roofline of the part alone, without a floor
  double flops_share = 0;

  bool operator==(const LayerPart&) const = default;
};
BOOST_DESCRIBE_STRUCT(LayerPart, (),
                      (part, sharing, flops, weight_bytes, hbm_bytes, time_us, flops_share))

/// The projections and the attention core of one layer of a point's layout, rank 0; the core is
/// mla_dense, or for per-head models the decode kernel of their kind.
/// Fails: config (as kernel_work).
Result<std::vector<LayerPart>> layer_parts(const Model& model, const Point& point,
                                           const Rates& rates, WeightDtype dtype);

}  // namespace headsplit::tp
