#include "tp/break_even.h"

#include <algorithm>

#include "tp/kernel_cost.h"
#include "tp/kv_cache.h"

namespace headsplit::tp {
namespace {

/// Attention core and collectives of one layer; absent when the layout cannot be.
std::optional<double> layer_us(const Model& model, const Point& point, const Device& device,
                               const CollectiveModel& collectives, QueryProjection query) {
  const auto work = kernel_work(model, point);
  if (!work) return std::nullopt;
  double time_us = roofline(work.value(), rates_of(device)).time_us;
  for (const auto& collective : layout_collectives(model, point, query, Merge::all_to_all)) {
    time_us += collectives.time_us(collective, device.link_gbps);
  }
  return time_us;
}

}  // namespace

double dp_break_even_tokens(const Model& model, WeightDtype weights, KvDtype cache) {
  return attention_weights(model).sharded * weight_value_bytes(weights) /
         cache_bytes_per_token(model, cache);
}

std::optional<double> dp_break_even_tokens(const Model& model, WeightDtype weights, KvDtype cache,
                                           int ranks, int query_tokens, const Rates& rates) {
  const double row_bytes = cache_bytes_per_token(model, cache);
  const double tp_us_per_token = row_bytes / rates.byte_per_us;
  const double flops_per_token =
      2.0 * model.heads * query_tokens * (2.0 * model.d_latent + model.d_rope);
  const double dp_us_per_token =
      std::max(tp_us_per_token, flops_per_token / rates.bf16_flop_per_us) / ranks;
  if (dp_us_per_token >= tp_us_per_token) return std::nullopt;
  const double weight_bytes = attention_weights(model).sharded * weight_value_bytes(weights);
  const double saved_us = weight_bytes * (1 - 1.0 / ranks) / rates.byte_per_us;
  return saved_us / (tp_us_per_token - dp_us_per_token);
}

std::optional<int> cp_break_even_batch(const Model& model, const Point& point, int ranks,
                                       const Device& device, const CollectiveModel& collectives,
                                       QueryProjection query) {
  constexpr int kBatchMax = 1 << 16;
  Point by_heads = point;
  Point by_context = point;
  by_heads.layout = {.tp = ranks};
  by_context.layout = {.cp = ranks};
  for (int batch = 1; batch <= kBatchMax; batch *= 2) {
    by_heads.batch = batch;
    by_context.batch = batch;
    const auto heads_us = layer_us(model, by_heads, device, collectives, query);
    const auto context_us = layer_us(model, by_context, device, collectives, query);
    if (heads_us && context_us && *context_us < *heads_us) return batch;
  }
  return std::nullopt;
}

}  // namespace headsplit::tp
