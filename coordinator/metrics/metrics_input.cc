#include "coordinator/metrics/metrics_input.h"

#include <cmath>

namespace headsplit::coordinator {

LayoutKey layout_key(const RowPoint& row) {
  return {row.model, row.kernel, enum_name(row.kv_dtype), row.tp, row.dp, row.cp};
}

void GeometricMean::add(double ratio) {
  if (!(ratio > 0) || !std::isfinite(ratio)) return;
  log_sum += std::log(ratio);
  count += 1;
}

std::optional<double> GeometricMean::value() const {
  if (count == 0) return std::nullopt;
  return std::exp(log_sum / static_cast<double>(count));
}

const SweepView* current_sweep(const std::vector<SweepView>& sweeps) {
  for (const SweepView& sweep : sweeps) {
    if (sweep.done() < sweep.points) return &sweep;
  }
  return sweeps.empty() ? nullptr : &sweeps.back();
}

}  // namespace headsplit::coordinator
