#include "cli/predict_report.h"

#include <functional>
#include <set>

#include "cli/measured_rows.h"
#include "cli/model_options.h"
#include "cli/table.h"
#include "core/nearest.h"
#include "tp/collective.h"
#include "tp/intensity.h"
#include "tp/kv_cache.h"
#include "tp/layer_table.h"
#include "tp/layout_cost.h"
#include "tp/retrained.h"
#include "tp/shard.h"

namespace headsplit::cli {
namespace {

using Cells = std::vector<std::vector<std::string>>;

/// What all tables are computed from.
struct Inputs {
  tp::Model model;
  tp::Device device;
  tp::TimeModel times;
  tp::CostOptions options;
  Point point;
  std::vector<Layout> layouts;
};

template <class T>
json::array json_rows(const std::vector<T>& values) {
  return to_json(values).as_array();
}

std::string percent(double ratio) { return figure(100 * ratio, 3) + " %"; }

std::string heading(const Inputs& in) {
  return str(in.model.title, ", ", in.point.kernel, " on ", in.device.title, ": batch ",
             in.point.batch, ", query tokens ", in.point.query_tokens, ", context ",
             in.point.context, ", KV ", enum_name(in.point.kv_dtype), "\n");
}

Result<std::vector<Layout>> layouts_of(const PredictRequest& request, const tp::Model& model) {
  std::vector<Layout> layouts;
  for (const int size : request.tp_sizes) layouts.push_back({.tp = size});
  for (const auto& name : request.layout_names) layouts.push_back(TRY(layout_from_name(name)));
  if (!layouts.empty()) return layouts;
  constexpr int kHostGpus = 8;
  for (const int size : tp::legal_tp_sizes(model)) {
    if (size <= kHostGpus) layouts.push_back({.tp = size});
  }
  return layouts;
}

double collectives_us(const Inputs& in, const Layout& layout, const tp::CollectiveModel& model) {
  Point point = in.point;
  point.layout = layout;
  double time_us = 0;
  for (const auto& collective : tp::layout_collectives(
           in.model, point, tp::QueryProjection::gathered, tp::Merge::all_to_all)) {
    time_us += model.time_us(collective, in.device.link_gbps);
  }
  return time_us;
}

Cells layout_cells(const Inputs& in, const std::vector<tp::LayoutRow>& rows,
                   const tp::CollectiveModel& collectives) {
  Cells cells = {{"layout", "heads", "GFLOP", "HBM", "KV read", "FLOP/B", "time us", "limiter",
                  "speed-up", "efficiency", "reuse kept", "KV copies", "KV kept", "padded rows",
                  "collectives us"}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const tp::LayoutRow& row = rows[i];
    cells.push_back({row.layout, str(row.local_heads), figure(row.flops / 1e9),
                     bytes_text(row.hbm_bytes), bytes_text(row.kv_bytes),
                     figure(row.intensity_flop_per_byte), figure(row.time_us),
                     enum_name(row.limiter), figure(row.speedup, 3), percent(row.tp_efficiency),
                     percent(row.reuse_retained), figure(row.kv_duplication, 3),
                     bytes_text(row.kv_memory_bytes_per_layer),
                     str(tp::padded_rows(row.local_heads, in.point.query_tokens)),
                     figure(collectives_us(in, in.layouts[i], collectives), 3)});
  }
  return cells;
}

std::string free_width_note(const Inputs& in, int local_heads) {
  RankProblem problem{.local_heads = local_heads,
                      .d_latent = in.model.d_latent,
                      .d_rope = in.model.d_rope,
                      .kv_dtype = in.point.kv_dtype};
  return str("heads ", local_heads, ": ",
             figure(tp::free_query_tokens(in.times.rates().ridge(), problem), 2));
}

std::string layout_notes(const Inputs& in, const std::vector<tp::LayoutRow>& rows,
                         const tp::CollectiveModel& collectives) {
  std::string notes = str(
      "\nOne rank, one layer, by formula. Ridge ", figure(in.times.rates().ridge(), 3), " FLOP/B (",
      in.device.provenance == Provenance::measured ? "measured ceilings" : "data sheet",
      "), times ",
      in.times.row_count() > 0 ? str("corrected by ", in.times.row_count(), " measured points")
                               : std::string("by the roofline"),
      ". Legal tp: ", tp::legal_tp_text(in.model),
      ".\nPadded rows: what a 64-row MMA tile computes for nothing, a request. Collectives: a "
      "layer's, latency + bytes / bandwidth,\n",
      collectives.source, ".\n");
  if (!in.model.is_mla() || in.point.kernel != "mla_dense") return notes;
  std::set<int, std::greater<>> head_counts;
  for (const auto& row : rows) head_counts.insert(row.local_heads);
  std::vector<std::string> widths;
  for (const int heads : head_counts) widths.push_back(free_width_note(in, heads));
  return notes + "Query tokens up to the ridge (more cost time): " + joined(widths) + ".\n";
}

Result<Prediction> layouts_table(const Inputs& in) {
  const auto rows = TRY(tp::layout_rows(in.model, in.point, in.layouts, in.times, in.options));
  const auto collectives = TRY(tp::read_collective_model());
  std::string text = heading(in) + "\n" + table_text(layout_cells(in, rows, collectives)) +
                     layout_notes(in, rows, collectives);
  for (const auto& note : in.model.notes) text += "Model: " + note + ".\n";
  return Prediction{json_rows(rows), text};
}

Result<Prediction> layer_table(const Inputs& in) {
  Point point = in.point;
  point.layout = in.layouts.front();
  const auto parts =
      TRY(tp::layer_parts(in.model, point, in.times.rates(), in.options.weight_dtype));
  Cells cells = {{"part", "sharing", "GFLOP", "weights", "HBM", "time us", "share of FLOPs"}};
  for (const auto& part : parts) {
    cells.push_back({part.part, part.sharing, figure(part.flops / 1e9),
                     bytes_text(part.weight_bytes), bytes_text(part.hbm_bytes),
                     figure(part.time_us), percent(part.flops_share)});
  }
  return Prediction{json_rows(parts), heading(in) + layout_name(point.layout) +
                                          ", one rank, one layer\n\n" + table_text(cells)};
}

Result<Prediction> cache_table(const Inputs& in) {
  const auto sizes = tp::cache_sizes(in.model, in.point.context, in.model.layers);
  Cells cells = {{"attention", "values a token and layer", "bytes a token, all layers", "GiB"}};
  for (const auto& size : sizes) {
    cells.push_back({size.attention, figure(size.values_per_token, 5),
                     bytes_text(size.bytes_per_token), figure(size.gib, 4)});
  }
  return Prediction{json_rows(sizes),
                    str(in.model.title, ": cache of one request of ", in.point.context,
                        " tokens in ", in.model.layers, " layers\n\n", table_text(cells))};
}

Result<Prediction> retrained_table(const Inputs& in) {
  if (!in.model.is_mla()) {
    return fail(ErrorKind::config, "--table retrained: ", in.model.name, " has no latent to shard");
  }
  std::vector<int> ranks;
  for (const auto& layout : in.layouts) ranks.push_back(layout.ranks());
  const auto schemes = tp::latent_schemes(in.model, in.point, ranks);
  Cells cells = {
      {"scheme", "exactness", "ranks", "bytes a token", "GFLOP", "KV read", "FLOP/B", "note"}};
  for (const auto& row : schemes) {
    cells.push_back({row.scheme, enum_name(row.exactness), str(row.ranks),
                     figure(row.bytes_per_token), figure(row.flops / 1e9), bytes_text(row.kv_bytes),
                     figure(row.intensity_flop_per_byte), row.note});
  }
  return Prediction{json_rows(schemes), heading(in) + "\n" + table_text(cells)};
}

Result<Inputs> inputs_of(const PredictRequest& request) {
  const tp::Model model = TRY(tp::read_model(request.point.model));
  const tp::Device device = TRY(device_of(request.device, request.measured));
  const tp::TimeModel times = TRY(time_model(device, model, request.measured, request.databases));
  Inputs in{.model = model, .device = device, .times = times, .point = request.point};
  const auto dtype = enum_from_name<tp::WeightDtype>(request.weights);
  if (!dtype) return within_context("--weights", dtype.error());
  in.options.weight_dtype = dtype.value();
  if (in.point.kernel.empty()) in.point.kernel = tp::core_kernel(in.model);
  in.layouts = TRY(layouts_of(request, in.model));
  return in;
}

}  // namespace

Result<Prediction> make_prediction(const PredictRequest& request) {
  const Inputs in = TRY(inputs_of(request));
  if (request.table == "layouts") return layouts_table(in);
  if (request.table == "layer") return layer_table(in);
  if (request.table == "kv-cache") return cache_table(in);
  if (request.table == "retrained") return retrained_table(in);
  return fail(ErrorKind::config, "--table '", request.table, "': unknown",
              did_you_mean(request.table, {"layouts", "layer", "kv-cache", "retrained"}));
}

}  // namespace headsplit::cli
