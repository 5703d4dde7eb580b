#include "tp/projection_cost.h"

namespace headsplit::tp {
namespace {

std::vector<Projection> latent_projections(const Model& m) {
  const double heads = m.heads;
  const double query = heads * (m.d_nope + m.d_rope);
  std::vector<Projection> list;
  if (m.q_lora_rank) {
    list.push_back({"q_a", 1.0 * m.hidden * *m.q_lora_rank, false});
    list.push_back({"q_b", 1.0 * *m.q_lora_rank * query, true});
  } else {
    list.push_back({"q", m.hidden * query, true});
  }
  list.push_back({"kv_a", 1.0 * m.hidden * (m.d_latent + m.d_rope), false});
  list.push_back({"k absorb", heads * m.d_nope * m.d_latent, true});
  list.push_back({"v absorb", heads * m.d_latent * m.d_v, true});
  list.push_back({"o", heads * m.d_v * m.hidden, true});
  return list;
}

std::vector<Projection> per_head_projections(const Model& m) {
  const double key = 1.0 * m.d_nope + m.d_rope;
  return {{"q", 1.0 * m.hidden * m.heads * key, true},
          {"k", 1.0 * m.hidden * m.kv_heads * key, true},
          {"v", 1.0 * m.hidden * m.kv_heads * m.d_v, true},
          {"o", 1.0 * m.heads * m.d_v * m.hidden, true}};
}

/// Ranks that a projection's weights are split over.
int split_over(const Projection& projection, const Layout& layout, QueryProjection query) {
  if (!projection.sharded) return 1;
  const bool on_query_side =
      projection.name == "q" || projection.name == "q_b" || projection.name == "k absorb";
  if (on_query_side && query == QueryProjection::replicated) return layout.tp;
  return layout.tp * layout.cp;
}

}  // namespace

double weight_value_bytes(WeightDtype dtype) { return dtype == WeightDtype::fp8 ? 1 : 2; }

std::vector<Projection> projections(const Model& model) {
  return model.is_mla() ? latent_projections(model) : per_head_projections(model);
}

AttentionWeights attention_weights(const Model& model) {
  AttentionWeights weights;
  for (const auto& projection : projections(model)) {
    (projection.sharded ? weights.sharded : weights.replicated) += projection.weights;
  }
  return weights;
}

double fixed_flops(const Model& model) {
  double flops = 0;
  for (const auto& projection : projections(model)) {
    if (projection.name != "o") flops += 2 * projection.weights;
  }
  return flops;
}

Work projection_work(const Model& model, const Layout& layout, double tokens, WeightDtype dtype,
                     QueryProjection query) {
  double weights = 0;
  for (const auto& projection : projections(model)) {
    weights += projection.weights / split_over(projection, layout, query);
  }
  Work work;
  work.flops = 2 * tokens * weights;
  work.fp8_flops = dtype == WeightDtype::fp8 ? work.flops : 0;
  work.weight_bytes = weights * weight_value_bytes(dtype);
  // The residual stream in and out; what passes between the projections stays in the cache.
  work.qo_bytes = 2 * kBf16Bytes * tokens * model.hidden;
  return work;
}

}  // namespace headsplit::tp
