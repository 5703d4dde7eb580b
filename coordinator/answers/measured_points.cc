#include "coordinator/answers/measured_points.h"

#include <algorithm>

#include "coordinator/answers/bootstrap.h"
#include "coordinator/answers/row_key.h"
#include "core/stats.h"

namespace headsplit::coordinator {
namespace {

std::string label_of(const Row& row) {
  std::string text = str(row.kernel, " ", row.layout, " B=", row.batch, " T=", row.query_tokens,
                         " L=", row.context, " ", enum_name(row.kv_dtype));
  if (row.ranks == Ranks::real) text += " real";
  if (row.lengths == Lengths::ragged) text += " ragged";
  if (row.l2 == L2::warm) text += " warm";
  if (row.fixed_splits > 0) text += str(" splits=", row.fixed_splits);
  if (row.top_k > 0) text += str(" k=", row.top_k);
  if (row.message_bytes > 0) text += str(" ", row.message_bytes, " bytes");
  return text;
}

void add_row(MeasuredPoint& point, const Row& row) {
  if (row.status != Status::ok || !row.time_us || !(*row.time_us > 0)) {
    if (row.status == Status::failed && point.failure.empty()) point.failure = row.reason;
    return;
  }
  point.rows.push_back(&row);
  const std::vector<double> batches =
      row.samples_us.empty() ? std::vector<double>{*row.time_us} : batch_medians(row.samples_us);
  point.batches_us.insert(point.batches_us.end(), batches.begin(), batches.end());
}

std::vector<double> clocks_of(const std::vector<const Row*>& rows) {
  std::vector<double> clocks;
  for (const Row* row : rows) {
    if (row->sm_clock_mhz && *row->sm_clock_mhz > 0) clocks.push_back(*row->sm_clock_mhz);
  }
  return clocks;
}

double low_time_us(const Row& row) {
  constexpr double kLow = 0.1;
  if (!row.samples_us.empty()) return quantile(row.samples_us, kLow);
  return row.time_p10_us.value_or(*row.time_us);
}

}  // namespace

double MeasuredPoint::time_us() const { return quantile(batches_us, 0.5); }

std::optional<double> MeasuredPoint::clock_mhz() const {
  const std::vector<double> clocks = clocks_of(rows);
  if (clocks.empty()) return std::nullopt;
  return quantile(clocks, 0.5);
}

std::optional<double> MeasuredPoint::highest_clock_mhz() const {
  const std::vector<double> clocks = clocks_of(rows);
  if (clocks.empty()) return std::nullopt;
  return *std::max_element(clocks.begin(), clocks.end());
}

std::optional<MeasuredPoint::Quiet> MeasuredPoint::quiet() const {
  if (rows.size() < kQuietRepeats) return std::nullopt;
  std::vector<double> times_us;
  for (const Row* row : rows) times_us.push_back(low_time_us(*row));
  std::partial_sort(times_us.begin(), times_us.begin() + 2, times_us.end());
  return Quiet{times_us[0], times_us[1] / times_us[0] - 1};
}

std::optional<double> MeasuredPoint::repeat_spread() const {
  if (rows.size() < 2) return std::nullopt;
  const auto [least, most] = std::minmax_element(
      rows.begin(), rows.end(),
      [](const Row* one, const Row* other) { return *one->time_us < *other->time_us; });
  return *(*most)->time_us / *(*least)->time_us - 1;
}

std::vector<std::string> MeasuredPoint::row_ids() const {
  std::vector<std::string> ids;
  for (const Row* row : rows) ids.push_back(row->point_id);
  return ids;
}

const MeasuredPoint* MeasuredPoints::find(const std::string& key) const {
  const auto found = index_of.find(key);
  return found == index_of.end() ? nullptr : &points[found->second];
}

MeasuredPoints measured_points(std::span<const Row> rows) {
  MeasuredPoints all;
  for (const Row& row : rows) {
    const auto [found, added] = all.index_of.emplace(problem_key(row), all.points.size());
    if (added) all.points.push_back({label_of(row), {}, {}, {}});
    add_row(all.points[found->second], row);
  }
  return all;
}

}  // namespace headsplit::coordinator
