#include "tp/correction.h"

#include <algorithm>
#include <cmath>

#include "core/stats.h"
#include "tp/kernel_cost.h"
#include "tp/shard.h"

namespace headsplit::tp {
namespace {

/// Packed rows count, whether of heads or of query tokens: kernels treat them alike, nearly.
ShapePlace place_of(const RankProblem& problem) {
  constexpr double kTokensWeight = 0.5;
  return {std::log2(problem.batch), std::log2(static_cast<double>(problem.context)),
          std::log2(problem.local_heads * problem.query_tokens),
          kTokensWeight * std::log2(problem.query_tokens)};
}

/// The point of a row as one rank alone would have it, so that its work can be counted again.
Point own_point(const Row& row) {
  return {.model = row.model,
          .kernel = row.kernel,
          .batch = row.rank_batch,
          .query_tokens = row.query_tokens,
          .context = row.rank_context,
          .kv_dtype = row.kv_dtype,
          .lengths = row.lengths,
          .top_k = row.top_k};
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
    const bool counts = row.status == Status::ok && row.time_us && row.fixed_splits == 0;
    if (is_own && counts) own.push_back(row);
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

std::vector<Measurement> measurements(const Device& device, const Model& model,
                                      const std::vector<Row>& rows) {
  std::map<std::string, std::vector<double>> repeats;
  std::map<std::string, Measurement> firsts;
  for (const auto& row : rows_of_device(rows, device)) {
    if (row.l2 != L2::cold || row.local_heads < 1 || *row.time_us <= 0) continue;
    const Model own = widths_of(model, row.local_heads);
    const Point point = own_point(row);
    const auto problem = rank_problem(own, point);
    const auto work = kernel_work(own, point);
    // Rows of other widths or of unknown kernels teach nothing about this model.
    if (!problem || !work || !row.flops || !close(*row.flops, work.value().flops)) continue;
    const std::string id = str(row.kernel, " ", json_text(problem.value()));
    const std::string label = str(row.local_heads, " heads B=", row.rank_batch,
                                  " T=", row.query_tokens, " L=", row.rank_context);
    firsts.try_emplace(id, Measurement{row.kernel, problem.value(), work.value(), label, 0});
    repeats[id].push_back(*row.time_us);
  }
  std::vector<Measurement> all;
  for (auto& [id, measured] : firsts) {
    measured.time_us = quantile(repeats[id], 0.5);
    all.push_back(std::move(measured));
  }
  return all;
}

TimeModel::TimeModel(const Device& device, const Model& model, const std::vector<Row>& rows)
    : rates_(rates_of(device)) {
  for (const Measurement& one : measurements(device, model, rows)) {
    known_[key_of(one.kernel, one.problem.kv_dtype)].samples.push_back(
        {one.problem, one.label, roofline(one.work, rates_), one.time_us});
  }
  for (auto& [key, known] : known_) {
    known.name = key;
    learn(known);
  }
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
  for (std::size_t i = 0; i < known.residuals.size(); ++i) {
    const PlacedValue& left_out = known.residuals[i];
    const double from_others = local_fit(known.residuals, left_out.place, kNeighbours, i);
    known.misses.push_back(std::abs(from_others - left_out.value));
  }
}

std::size_t TimeModel::row_count() const {
  std::size_t count = 0;
  for (const auto& [key, known] : known_) count += known.samples.size();
  return count;
}

const TimeModel::Known* TimeModel::most_known() const {
  const auto most = std::max_element(known_.begin(), known_.end(), [](auto& a, auto& b) {
    return a.second.samples.size() < b.second.samples.size();
  });
  return most == known_.end() ? nullptr : &most->second;
}

Estimate TimeModel::estimate(const std::string& kernel, const RankProblem& problem,
                             const Work& work) const {
  const Roofline line = roofline(work, rates_);
  const auto found = known_.find(key_of(kernel, problem.kv_dtype));
  if (found != known_.end()) return estimate_from(found->second, problem, line);
  Estimate estimate{.time_us = line.time_us, .limiter = line.limiter, .basis = kDataSheetBasis};
  estimate.error = kUncorrectedError;
  if (const Known* other = most_known()) {
    estimate.time_us = other->derating.time_us(line);
    estimate.basis = "no rows; derated as " + other->name;
  }
  return estimate;
}

Estimate TimeModel::estimate_from(const Known& known, const RankProblem& problem,
                                  const Roofline& line) const {
  const ShapePlace place = place_of(problem);
  const std::vector<std::size_t> near = nearest_places(known.residuals, place);
  const Sample& nearest = known.samples[near.front()];
  if (nearest.problem == problem) {
    return {nearest.time_us, line.limiter, Provenance::measured, "row", kRowError, true};
  }
  double squares = 0;
  for (const std::size_t index : near) squares += known.misses[index] * known.misses[index];
  const double miss = std::sqrt(squares / static_cast<double>(near.size()));
  // Beyond a doubling from any row nothing says that the residual stays what it is there.
  const double doublings = std::sqrt(squared_distance(place_of(nearest.problem), place));
  Estimate estimate{
      .time_us = known.derating.time_us(line) * std::exp(local_fit(known.residuals, place)),
      .limiter = line.limiter};
  estimate.corrected = true;
  estimate.basis = str(known.samples.size(), " rows, nearest ", nearest.label, " (",
                       enum_name(nearest.line.limiter), ")");
  estimate.error = std::max(kRowError, std::expm1(miss)) * std::max(1.0, doublings);
  return estimate;
}

}  // namespace headsplit::tp
