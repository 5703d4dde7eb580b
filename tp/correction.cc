#include "tp/correction.h"

#include <algorithm>
#include <cmath>

#include "core/stats.h"
#include "tp/kernel_cost.h"
#include "tp/shard.h"

namespace headsplit::tp {
namespace {

ShapePlace place_of(const RankProblem& problem) {
  return {std::log2(problem.batch), std::log2(static_cast<double>(problem.context)),
          std::log2(problem.local_heads), std::log2(problem.query_tokens)};
}

/// The point of a row as one rank alone would have it, so that its work can be counted again.
Point own_point(const Row& row) {
  return {.model = row.model,
          .kernel = row.kernel,
          .batch = row.rank_batch,
          .query_tokens = row.query_tokens,
          .context = row.rank_context,
          .kv_dtype = row.kv_dtype,
          .lengths = row.lengths};
}

/// A model of the row's heads with this model's widths.
Model widths_of(const Model& model, int heads) {
  Model own = model;
  own.heads = heads;
  if (!own.is_mla()) own.kv_heads = std::min(model.kv_heads, heads);
  return own;
}

bool close(double left, double right) {
  constexpr double kTolerance = 1e-3;
  return std::abs(left - right) <= kTolerance * std::max(std::abs(left), std::abs(right));
}

}  // namespace

std::vector<Row> rows_of_device(const std::vector<Row>& rows, const Device& device) {
  std::vector<Row> own;
  for (const auto& row : rows) {
    const auto& names = device.reported_as;
    const bool is_own = row.device == device.name ||
                        std::find(names.begin(), names.end(), row.device) != names.end();
    if (is_own && row.status == Status::ok && row.time_us) own.push_back(row);
  }
  return own;
}

Ceilings ceilings_of_rows(const std::vector<Row>& rows, const Device& device) {
  std::vector<double> read_gbps;
  std::vector<double> bf16_tflops;
  for (const auto& row : rows_of_device(rows, device)) {
    if (row.read_ceiling_gbps) read_gbps.push_back(*row.read_ceiling_gbps);
    if (row.matmul_ceiling_tflops) bf16_tflops.push_back(*row.matmul_ceiling_tflops);
  }
  Ceilings ceilings;
  if (!read_gbps.empty()) ceilings.read_gbps = quantile(read_gbps, 0.5);
  if (!bf16_tflops.empty()) ceilings.bf16_tflops = quantile(bf16_tflops, 0.5);
  return ceilings;
}

std::string TimeModel::key_of(const std::string& kernel, KvDtype dtype) {
  return kernel + " " + enum_name(dtype);
}

TimeModel::TimeModel(const Device& device, const Model& model, const std::vector<Row>& rows)
    : rates_(rates_of(device)) {
  std::map<std::string, std::vector<double>> repeats;
  std::map<std::string, std::pair<std::string, Sample>> firsts;
  for (const auto& row : rows_of_device(rows, device)) {
    if (row.l2 != L2::cold || row.local_heads < 1 || *row.time_us <= 0) continue;
    const Model own = widths_of(model, row.local_heads);
    const Point point = own_point(row);
    const auto problem = rank_problem(own, point);
    const auto work = kernel_work(own, point);
    // Rows of other widths or of unknown kernels teach nothing about this model.
    if (!problem || !work || !row.flops || !close(*row.flops, work.value().flops)) continue;
    const std::string id = str(key_of(row.kernel, row.kv_dtype), " ", json_text(problem.value()));
    const std::string label = str(row.local_heads, " heads B=", row.rank_batch,
                                  " T=", row.query_tokens, " L=", row.rank_context);
    Sample sample{problem.value(), label, roofline(work.value(), rates_), 0};
    firsts.try_emplace(id, key_of(row.kernel, row.kv_dtype), std::move(sample));
    repeats[id].push_back(*row.time_us);
  }
  for (auto& [id, entry] : firsts) {
    entry.second.time_us = quantile(repeats[id], 0.5);
    known_[entry.first].samples.push_back(entry.second);
  }
  for (auto& [key, known] : known_) learn(known);
}

void TimeModel::learn(Known& known) const {
  std::vector<Roofline> lines;
  std::vector<double> times_us;
  for (const auto& sample : known.samples) {
    lines.push_back(sample.line);
    times_us.push_back(sample.time_us);
  }
  known.derating = fit_derating(lines, times_us);
  for (const auto& sample : known.samples) {
    known.residuals.push_back(
        {place_of(sample.problem), std::log(sample.time_us / known.derating.time_us(sample.line))});
  }
}

std::size_t TimeModel::row_count() const {
  std::size_t count = 0;
  for (const auto& [key, known] : known_) count += known.samples.size();
  return count;
}

Estimate TimeModel::estimate(const std::string& kernel, const RankProblem& problem,
                             const Work& work) const {
  const Roofline line = roofline(work, rates_);
  const auto found = known_.find(key_of(kernel, problem.kv_dtype));
  if (found == known_.end()) return {line.time_us, line.limiter, Provenance::model, "data sheet"};
  const Known& known = found->second;
  const ShapePlace place = place_of(problem);
  const Sample* nearest = &known.samples.front();
  double nearest_distance = INFINITY;
  for (const auto& sample : known.samples) {
    const double distance = squared_distance(place_of(sample.problem), place);
    if (distance >= nearest_distance) continue;
    nearest = &sample;
    nearest_distance = distance;
  }
  if (nearest->problem == problem) {
    return {nearest->time_us, line.limiter, Provenance::measured, "row"};
  }
  const double derated_us = known.derating.time_us(line);
  return {derated_us * std::exp(local_fit(known.residuals, place)), line.limiter, Provenance::model,
          str(known.samples.size(), " rows, nearest ", nearest->label)};
}

}  // namespace headsplit::tp
