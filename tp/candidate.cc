#include "tp/candidate.h"

#include <algorithm>
#include <cmath>

#include "core/nearest.h"
#include "tp/intensity.h"
#include "tp/layout_cost.h"
#include "tp/shard.h"

namespace headsplit::tp {
namespace {

constexpr double kGiga = 1e9;
constexpr int kBatchMax = 1 << 16;

/// Time of one layer by its parts.
struct LayerTime {
  Estimate attention;
  double projection_us = 0;
  double collective_us = 0;
  std::vector<Collective> collectives;
  RankProblem problem;
  double kv_memory_bytes = 0;

  double total_us() const { return attention.time_us + projection_us + collective_us; }
};

Point point_of(const AdviceRequest& request, const Layout& layout, const std::string& kernel) {
  Point point = request.point;
  point.model = request.model.name;
  point.layout = layout;
  point.kernel = kernel;
  return point;
}

/// The attention core; sparse attention with its indexer, on the layers that run it.
Result<LayerTime> attention_time(const AdviceRequest& request, const Point& point,
                                 const TimeModel& times) {
  LayerTime layer;
  layer.problem = TRY(rank_problem(request.model, point));
  CostOptions options;
  options.expanded_tokens = expanded_tokens_for(request.model, point, times.rates());
  const Work work = TRY(kernel_work(request.model, point, options));
  layer.kv_memory_bytes = work.kv_memory_bytes;
  layer.attention = times.estimate(point.kernel, layer.problem, work);
  if (point.kernel != "mla_sparse") return layer;
  Point indexer = point;
  indexer.kernel = "dsa_indexer";
  const Work index_work = TRY(kernel_work(request.model, indexer));
  const double share = 1.0 * request.model.indexer_layers / request.model.layers;
  const Estimate index = times.estimate(indexer.kernel, layer.problem, index_work);
  layer.attention.time_us += share * index.time_us;
  layer.attention.error = std::max(layer.attention.error, index.error);
  layer.kv_memory_bytes += share * index_work.kv_memory_bytes;
  if (index.source == Provenance::model) layer.attention.source = Provenance::model;
  return layer;
}

double projections_us(const AdviceRequest& request, const Point& point, const TimeModel& times,
                      QueryProjection query) {
  Rates rates = times.rates();
  rates.floor_us = 0;  // the launches of projections are not attention launches
  const double tokens =
      static_cast<double>(share(point.batch, point.layout.dp, 0)) * point.query_tokens;
  return roofline(projection_work(request.model, point.layout, tokens, request.weights, query),
                  rates)
      .time_us;
}

void choose_collectives(const AdviceRequest& request, const Point& point, const TimeModel& times,
                        const CollectiveModel& model, LayerTime& layer) {
  double least_us = INFINITY;
  for (const auto query : {QueryProjection::gathered, QueryProjection::replicated}) {
    const double projection_us = projections_us(request, point, times, query);
    for (const auto merge : {Merge::all_to_all, Merge::gather_scatter}) {
      auto list = layout_collectives(request.model, point, query, merge);
      double collective_us = 0;
      for (const auto& one : list) collective_us += model.time_us(one, request.device.link_gbps);
      if (projection_us + collective_us >= least_us) continue;
      least_us = projection_us + collective_us;
      layer.projection_us = projection_us;
      layer.collective_us = collective_us;
      layer.collectives = std::move(list);
    }
  }
}

Result<LayerTime> layer_time(const AdviceRequest& request, const Point& point,
                             const TimeModel& times, const CollectiveModel& collectives) {
  LayerTime layer = TRY(attention_time(request, point, times));
  choose_collectives(request, point, times, collectives, layer);
  return layer;
}

std::string collectives_text(const std::vector<Collective>& collectives) {
  std::vector<std::string> words;
  for (const auto& one : collectives) {
    words.push_back(str(enum_name(one.kind), " of ", one.ranks, ": ", std::llround(one.bytes),
                        " B (", one.purpose, ")"));
  }
  return words.empty() ? "none" : joined(words, "; ");
}

double weight_bytes(const AdviceRequest& request, const Layout& layout) {
  const double layer = projection_work(request.model, layout, 0, request.weights).weight_bytes;
  return layer * request.model.layers;
}

/// Most requests over the whole layout whose cache fits beside the weights.
std::int64_t batch_that_fits(double request_bytes, double free_bytes, int dp) {
  if (free_bytes < request_bytes) return 0;
  const double requests = std::floor(free_bytes / request_bytes) * dp;
  return static_cast<std::int64_t>(std::min(requests, static_cast<double>(kBatchMax)));
}

void fill_memory(const AdviceRequest& request, const Point& point, const LayerTime& layer,
                 Candidate& c) {
  const double other_bytes = weight_bytes(request, point.layout) + request.reserve_gb * kGiga;
  const double cache_bytes = layer.kv_memory_bytes * request.model.layers;
  c.memory_gb = (cache_bytes + other_bytes) / kGiga;
  c.fits = c.memory_gb <= request.device.memory_gb;
  c.batch_max = batch_that_fits(cache_bytes / layer.problem.batch,
                                request.device.memory_gb * kGiga - other_bytes, point.layout.dp);
}

Result<double> one_rank_attention_us(const AdviceRequest& request, const Point& point,
                                     const TimeModel& times) {
  Point alone = point;
  alone.layout = {};
  return TRY(attention_time(request, alone, times)).attention.time_us;
}

double tokens_per_s(const Point& point, double step_us) {
  constexpr double kMicro = 1e6;
  return static_cast<double>(point.batch) * point.query_tokens / step_us * kMicro;
}

/// Measured when all of them are.
Provenance source_of(const std::vector<Collective>& list, const CollectiveModel& model) {
  const bool measured = !list.empty() && std::all_of(list.begin(), list.end(), [&](auto& one) {
    return model.times_of(one) != nullptr;
  });
  return measured ? Provenance::measured : Provenance::model;
}

}  // namespace

std::vector<std::string> advised_kernels(const Model& model, KvDtype dtype) {
  if (!model.is_mla()) return {core_kernel(model)};
  std::vector<std::string> kernels = {"mla_dense"};
  const bool gathered = dtype != KvDtype::fp8_tensor;
  if (model.index_topk > 0 && gathered) kernels.push_back("mla_sparse");
  if (dtype == KvDtype::bf16) kernels.insert(kernels.end(), {"mla_expanded", "mla_mixed"});
  return kernels;
}

std::vector<Layout> possible_layouts(const Model& model, const Point& point, int gpus) {
  std::vector<Layout> layouts;
  for (const int tp : legal_tp_sizes(model)) {
    if (tp > gpus || gpus % tp != 0) continue;
    for (int dp = 1; dp <= gpus / tp; ++dp) {
      if (gpus / tp % dp != 0) continue;
      const Layout layout{.tp = tp, .dp = dp, .cp = gpus / tp / dp};
      if (layout.dp <= point.batch && layout.cp <= point.context) layouts.push_back(layout);
    }
  }
  return layouts;
}

Result<double> step_time_us(const AdviceRequest& request, const Layout& layout,
                            const std::string& kernel, const TimeModel& times,
                            const CollectiveModel& collectives) {
  const Point point = point_of(request, layout, kernel);
  const LayerTime layer = TRY(layer_time(request, point, times, collectives));
  return layer.total_us() * request.model.layers;
}

Result<Candidate> candidate(const AdviceRequest& request, const Layout& layout,
                            const std::string& kernel, const TimeModel& times,
                            const CollectiveModel& collectives) {
  const Point point = point_of(request, layout, kernel);
  const LayerTime layer = TRY(layer_time(request, point, times, collectives));
  Candidate c{.layout = layout_name(layout), .kernel = kernel};
  c.step_time_us = layer.total_us() * request.model.layers;
  c.attention_us = layer.attention.time_us;
  c.attention_source = layer.attention.source;
  c.attention_basis = layer.attention.basis;
  c.attention_error = layer.attention.error;
  c.attention_corrected = layer.attention.corrected;
  c.projection_us = layer.projection_us;
  c.collective_us = layer.collective_us;
  c.collective_source = source_of(layer.collectives, collectives);
  c.limiter = layer.attention.limiter;
  c.query_tokens_per_s = tokens_per_s(point, c.step_time_us);
  fill_memory(request, point, layer, c);
  if (c.batch_max >= layout.dp) {
    AdviceRequest full = request;
    full.point.batch = static_cast<int>(c.batch_max);
    const double step_us = TRY(step_time_us(full, layout, kernel, times, collectives));
    c.query_tokens_per_s_at_batch_max = tokens_per_s(full.point, step_us);
  }
  const double alone_us = TRY(one_rank_attention_us(request, point, times));
  c.tp_efficiency = alone_us / (layer.attention.time_us * layout.ranks());
  const auto rows = TRY(layout_rows(request.model, point, {layout}, times));
  c.kv_duplication = rows.front().kv_duplication;
  if (kernel == "mla_dense") {
    c.free_query_tokens = free_query_tokens(times.rates().ridge(), layer.problem);
  }
  c.padded_rows = padded_rows(layer.problem.local_heads, point.query_tokens);
  c.collectives = collectives_text(layer.collectives);
  return c;
}

}  // namespace headsplit::tp
