#include "coordinator/metrics/sweep_figures.h"

namespace headsplit::coordinator {
namespace {

std::optional<double> product(std::optional<double> value, double factor) {
  if (!value) return std::nullopt;
  return *value * factor;
}

/// The figures of the latest row; the means over cells are kept.
void take_latest(const Row& row, LayoutFigures& figures) {
  figures.time_s = *row.time_us * 1e-6;
  figures.batch = row.batch;
  figures.query_tokens = row.query_tokens;
  figures.context = row.context;
  figures.intensity_model = row.intensity_model;
  figures.intensity_measured = row.intensity_measured;
  figures.flops_per_s = product(row.tflops, 1e12);
  figures.model_bytes_per_s = product(row.gbps, 1e9);
  figures.dram_bytes_per_s = product(counted_dram_bytes(row), 1 / figures.time_s);
  figures.roofline_ratio = row.roofline_fraction;
}

void add_ratio(GeometricMean& mean, std::optional<double> above, std::optional<double> below) {
  if (above && below && *below > 0) mean.add(*above / *below);
}

}  // namespace

SweepFigures::Cell SweepFigures::cell_of(const Row& row) {
  return {.model = row.model,
          .kernel = row.kernel,
          .device = row.device,
          .kv_dtype = row.kv_dtype,
          .ranks = row.ranks,
          .lengths = row.lengths,
          .l2 = row.l2,
          .batch = row.batch,
          .query_tokens = row.query_tokens,
          .context = row.context,
          .repeat = row.repeat,
          .top_k = row.top_k};
}

void SweepFigures::add(const Row& row) {
  if (row.status != Status::ok || !row.time_us || !(*row.time_us > 0)) return;
  const LayoutKey key = layout_key(row);
  take_latest(row, layouts_[key]);
  const Entry entry = {*row.time_us, row.intensity_model, row.intensity_measured,
                       row.kv_bytes_model};
  auto& cell = cells_[cell_of(row)];
  if (!cell.emplace(key, entry).second) return;
  LayoutKey alone_key = key;
  alone_key.tp = alone_key.dp = alone_key.cp = 1;
  const auto alone = cell.find(alone_key);
  if (alone == cell.end()) return;
  if (key != alone_key) {
    compare(key, entry, alone->second);
    return;
  }
  for (const auto& [other_key, other] : cell) compare(other_key, other, entry);
}

void SweepFigures::compare(const LayoutKey& key, const Entry& entry, const Entry& alone) {
  LayoutFigures& figures = layouts_[key];
  add_ratio(figures.speedup, alone.time_us, entry.time_us);
  add_ratio(figures.reuse_model, entry.intensity_model, alone.intensity_model);
  add_ratio(figures.reuse_measured, entry.intensity_measured, alone.intensity_measured);
  const std::optional<double> all_ranks = product(entry.kv_bytes, key.ranks());
  add_ratio(figures.kv_duplication, all_ranks, alone.kv_bytes);
  if (all_ranks && alone.kv_bytes) figures.kv_duplicated_bytes = *all_ranks - *alone.kv_bytes;
}

}  // namespace headsplit::coordinator
