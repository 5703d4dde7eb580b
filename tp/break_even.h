#pragma once

#include <optional>

#include "tp/collective.h"
#include "tp/device.h"
#include "tp/projection_cost.h"
#include "tp/roofline.h"

namespace headsplit::tp {

/// Cached tokens over all requests (B x L) from which data parallelism beats head parallelism while
/// both are memory-bound: TP saves W (1 - 1/P) weight bytes, DP saves B L c (1 - 1/P) cache bytes,
/// so B L = W_sharded x bytes a weight / c, for any P.  DeepSeek-V3 149k tokens (FP8 weights, BF16
/// cache), Kimi K2 75k, Kimi K3 112k.  An output gate is not counted.
double dp_break_even_tokens(const Model& model, WeightDtype weights, KvDtype cache);

/// The same on a device, where DP's whole heads may be compute-bound already: per cached token DP
/// takes max(c / bandwidth, 2 H T (D + d_latent) / peak) / P.  Absent when DP never wins.
std::optional<double> dp_break_even_tokens(const Model& model, WeightDtype weights, KvDtype cache,
                                           int ranks, int query_tokens, const Rates& rates);

/// Smallest batch, a power of two up to 65536, from which cp ranks that split the context finish
/// attention and its collectives before tp ranks that split the heads.  Absent when none does.
std::optional<int> cp_break_even_batch(const Model& model, const Point& point, int ranks,
                                       const Device& device, const CollectiveModel& collectives,
                                       QueryProjection query);

}  // namespace headsplit::tp
