#pragma once

#include <string>
#include <vector>

#include "core/layout.h"
#include "tp/model.h"
#include "tp/work.h"

namespace headsplit::tp {

/// Storage of projection weights.
enum class WeightDtype { bf16, fp8 };
BOOST_DESCRIBE_ENUM(WeightDtype, bf16, fp8)

double weight_value_bytes(WeightDtype dtype);

/// One projection of an attention layer.
struct Projection {
  std::string name;
  double weights = 0;    ///< values
  bool sharded = false;  ///< by heads over tp x cp; else every rank has all of it
};

/// The projections around the attention core of one layer.  MLA: q_a, q_b (or q when there is no
/// query rank), kv_a, k absorb (W_UK), v absorb (W_UV), o.  Per-head: q, k, v, o.
/// An output gate is not in it: config.json does not give its shape.
std::vector<Projection> projections(const Model& model);

/// Weights that head parallelism splits, and those it copies, in values.  DeepSeek-V3: 171.97
/// million split (q_b, kv_b, o) and 15.14 million copied (q_a, kv_a).
struct AttentionWeights {
  double sharded = 0;
  double replicated = 0;
};
AttentionWeights attention_weights(const Model& model);

/// FLOPs a token and layer spends on all projections but the output one: the work that does not
/// grow with the context.  2 x weights.
double fixed_flops(const Model& model);

/// How context-parallel ranks get their queries: each holds a slice of the heads' projections and
/// gathers the queries of the others, or all hold them and no gather is needed.
enum class QueryProjection { gathered, replicated };

/// The projections of one layer on one rank: weights read once, activations of its tokens.
/// tokens: (batch / dp) x query tokens of the rank.
Work projection_work(const Model& model, const Layout& layout, double tokens, WeightDtype dtype,
                     QueryProjection query = QueryProjection::gathered);

}  // namespace headsplit::tp
