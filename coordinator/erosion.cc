#include "coordinator/erosion.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "core/stats.h"

namespace headsplit::coordinator {
namespace {

/// The rows of one layout of a cell.
struct Group {
  ErosionLine line;
  std::vector<const Row*> ok;
};

/// A cell while rows are sorted into it.
struct Gathered {
  ErosionCell cell;
  std::vector<Group> groups;
};

ErosionCell cell_of(const Row& row) {
  return {.sweep = row.sweep,
          .model = row.model,
          .kernel = row.kernel,
          .kv_dtype = row.kv_dtype,
          .lengths = row.lengths,
          .l2 = row.l2,
          .batch = row.batch,
          .query_tokens = row.query_tokens,
          .context = row.context,
          .ranks = row.ranks,
          .fixed_splits = row.fixed_splits,
          .top_k = row.top_k};
}

/// Without another layout to compare with.
std::optional<int> kv_duplication_of(const Row& row) {
  if (row.kernel == "mha_decode" || row.kernel == "mla_expanded") return 1;
  if (row.kernel == "gqa_decode" && row.tp > 1) return std::nullopt;
  return row.tp;
}

ErosionLine line_of(const Row& row) {
  return {.layout = row.layout,
          .tp = row.tp,
          .dp = row.dp,
          .cp = row.cp,
          .rank_count = row.tp * row.dp * row.cp,
          .local_heads = row.local_heads,
          .status = row.status,
          .kv_duplication = kv_duplication_of(row)};
}

/// The element whose key equals that of `wanted`, appended when there is none.
template <class List, class Same>
auto& find_or_add(List& list, typename List::value_type wanted, const Same& same) {
  const auto found = std::find_if(list.begin(), list.end(), same);
  if (found != list.end()) return *found;
  return list.emplace_back(std::move(wanted));
}

void add_row(Gathered& gathered, const Row& row) {
  Group& group = find_or_add(gathered.groups, Group{line_of(row), {}},
                             [&](const Group& other) { return other.line.layout == row.layout; });
  ErosionLine& line = group.line;
  ++line.repeats;
  line.resumed = line.resumed || row.resumed;
  if (row.status == Status::ok && row.time_us) {
    line.status = Status::ok;
    line.local_heads = row.local_heads;
    ++line.repeats_ok;
    group.ok.push_back(&row);
    if (gathered.cell.device.empty()) gathered.cell.device = row.device;
    if (gathered.cell.backend.empty()) gathered.cell.backend = row.backend;
  } else {
    if (line.reason.empty()) line.reason = row.reason;
    // Of repeats that all went wrong, a failure says more than a skip.
    if (line.status != Status::ok && row.status == Status::failed) line.status = row.status;
  }
}

/// Median over the repeats of one optional figure; none when any repeat lacks it.
template <class Figure>
std::optional<double> median_of(const std::vector<const Row*>& rows, const Figure& figure) {
  std::vector<double> values;
  for (const Row* row : rows) {
    const std::optional<double> value = row->*figure;
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  if (values.empty()) return std::nullopt;
  return quantile(values, 0.5);
}

/// p10 or p90 over all samples of all repeats; rows without samples give their own figure.
template <class Figure>
std::optional<double> quantile_of(const std::vector<const Row*>& rows, double fraction,
                                  const Figure& figure) {
  std::vector<double> samples_us;
  for (const Row* row : rows) {
    if (row->samples_us.empty()) return median_of(rows, figure);
    samples_us.insert(samples_us.end(), row->samples_us.begin(), row->samples_us.end());
  }
  if (samples_us.empty()) return std::nullopt;
  return quantile(samples_us, fraction);
}

std::optional<double> ratio(std::optional<double> above, std::optional<double> below) {
  if (!above || !below || *below == 0) return std::nullopt;
  return *above / *below;
}

Limiter limiter_of(const std::vector<const Row*>& rows) {
  std::map<Limiter, int> counts;
  for (const Row* row : rows) ++counts[row->limiter];
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? Limiter::unknown : most->first;
}

/// What the formula and the roofs say beside what was measured.
void put_beside(Group& group, const TimeOfRow& time_model_us) {
  ErosionLine& line = group.line;
  line.limiter = limiter_of(group.ok);
  line.intensity_model_flop_per_byte = median_of(group.ok, &Row::intensity_model);
  line.hbm_bytes_model = median_of(group.ok, &Row::hbm_bytes_model);
  const auto read = median_of(group.ok, &Row::dram_bytes_read);
  const auto written = median_of(group.ok, &Row::dram_bytes_written);
  if (read && written) line.dram_bytes = *read + *written;
  line.roofline_fraction = median_of(group.ok, &Row::roofline_fraction);
  if (line.roofline_fraction && line.time_us) {
    line.time_roofline_us = *line.roofline_fraction * *line.time_us;
  }
  if (time_model_us && !group.ok.empty()) line.time_model_us = time_model_us(*group.ok.front());
  line.throttled = static_cast<int>(std::count_if(
      group.ok.begin(), group.ok.end(), [](const Row* row) { return row->throttled == true; }));
}

void summarise_line(Group& group) {
  ErosionLine& line = group.line;
  line.time_us = median_of(group.ok, &Row::time_us);
  line.time_p10_us = quantile_of(group.ok, 0.1, &Row::time_p10_us);
  line.time_p90_us = quantile_of(group.ok, 0.9, &Row::time_p90_us);
  const auto measured = median_of(group.ok, &Row::intensity_measured);
  line.intensity_source = measured ? Provenance::measured : Provenance::model;
  line.intensity_flop_per_byte = measured ? measured : median_of(group.ok, &Row::intensity_model);
  const auto bytes_a_us = ratio(median_of(group.ok, &Row::hbm_bytes_model), line.time_us);
  const auto flops_a_us = ratio(median_of(group.ok, &Row::flops), line.time_us);
  if (bytes_a_us) line.gbps = *bytes_a_us * 1e-3;
  if (flops_a_us) line.gflops = *flops_a_us * 1e-3;
}

void compare_line(Group& group, const Group& alone) {
  ErosionLine& line = group.line;
  // Groups of heads are shared out until each rank has one, and copied from there on.
  const auto cache =
      ratio(median_of(group.ok, &Row::kv_bytes_model), median_of(alone.ok, &Row::kv_bytes_model));
  if (!line.kv_duplication && cache) {
    line.kv_duplication = static_cast<int>(std::lround(*cache * line.rank_count));
  }
  line.speedup = ratio(alone.line.time_us, line.time_us);
  if (line.speedup) line.efficiency = *line.speedup / line.rank_count;
  const bool both_measured = line.intensity_source == Provenance::measured &&
                             alone.line.intensity_source == Provenance::measured;
  line.reuse_retained =
      both_measured ? ratio(line.intensity_flop_per_byte, alone.line.intensity_flop_per_byte)
                    : ratio(median_of(group.ok, &Row::intensity_model),
                            median_of(alone.ok, &Row::intensity_model));
}

/// Rows of equal keys are of one cell.
std::string key_of(const Row& row) {
  std::string key = row.sweep + '\n' + row.model + '\n' + row.kernel + '\n';
  for (const std::int64_t part :
       {std::int64_t(row.kv_dtype), std::int64_t(row.lengths), std::int64_t(row.l2),
        std::int64_t(row.batch), std::int64_t(row.query_tokens), row.context,
        std::int64_t(row.ranks), std::int64_t(row.fixed_splits), std::int64_t(row.top_k)}) {
    key += std::to_string(part) + ' ';
  }
  return key;
}

ErosionCell finished_cell(Gathered& gathered, const TimeOfRow& time_model_us) {
  for (Group& group : gathered.groups) {
    summarise_line(group);
    put_beside(group, time_model_us);
  }
  const auto alone = std::find_if(gathered.groups.begin(), gathered.groups.end(),
                                  [](const Group& group) { return group.line.rank_count == 1; });
  for (Group& group : gathered.groups) {
    if (alone != gathered.groups.end()) compare_line(group, *alone);
    gathered.cell.lines.push_back(group.line);
  }
  return std::move(gathered.cell);
}

}  // namespace

std::vector<ErosionCell> erosion(std::span<const Row> rows, const TimeOfRow& time_model_us) {
  std::vector<Gathered> all;
  std::unordered_map<std::string, std::size_t> index_of;
  for (const Row& row : rows) {
    if (row.message_bytes > 0) continue;
    const auto [found, added] = index_of.emplace(key_of(row), all.size());
    if (added) all.push_back({cell_of(row), {}});
    add_row(all[found->second], row);
  }
  std::vector<ErosionCell> cells;
  for (Gathered& gathered : all) cells.push_back(finished_cell(gathered, time_model_us));
  return cells;
}

}  // namespace headsplit::coordinator
