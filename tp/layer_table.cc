#include "tp/layer_table.h"

#include "tp/shard.h"

namespace headsplit::tp {
namespace {

LayerPart projection_part(const Projection& projection, const Layout& layout, double tokens,
                          WeightDtype dtype, const Rates& rates) {
  const double weights = projection.weights / (projection.sharded ? layout.tp * layout.cp : 1);
  Work work{.flops = 2 * tokens * weights, .weight_bytes = weights * weight_value_bytes(dtype)};
  if (dtype == WeightDtype::fp8) work.fp8_flops = work.flops;
  const std::string split = layout.cp > 1 ? "by heads and context" : "by heads";
  return {.part = projection.name,
          .sharing = projection.sharded ? split : "copied",
          .flops = work.flops,
          .weight_bytes = work.weight_bytes,
          .hbm_bytes = work.hbm_bytes(),
          .time_us = roofline(work, rates).time_us};
}

}  // namespace

Result<std::vector<LayerPart>> layer_parts(const Model& model, const Point& point,
                                           const Rates& rates, WeightDtype dtype) {
  Point core_point = point;
  core_point.kernel = core_kernel(model);
  const Work core = TRY(kernel_work(model, core_point));
  Rates without_floor = rates;
  without_floor.floor_us = 0;
  const double tokens =
      static_cast<double>(share(point.batch, point.layout.dp, 0)) * point.query_tokens;
  std::vector<LayerPart> parts;
  for (const auto& projection : projections(model)) {
    parts.push_back(projection_part(projection, point.layout, tokens, dtype, without_floor));
  }
  parts.push_back({.part = "attention core",
                   .sharing = point.layout.cp > 1 ? "by heads and context" : "by heads",
                   .flops = core.flops,
                   .hbm_bytes = core.hbm_bytes(),
                   .time_us = roofline(core, without_floor).time_us});
  double total = 0;
  for (const auto& part : parts) total += part.flops;
  for (auto& part : parts) part.flops_share = part.flops / total;
  return parts;
}

}  // namespace headsplit::tp
