#include "coordinator/gang_row.h"

#include <algorithm>

#include "core/check.h"

namespace headsplit::coordinator {
namespace {

using Figure = std::optional<double> RankPart::*;

/// Of all ranks; empty unless each has it.
std::vector<double> figures(const std::vector<RankPart>& parts, Figure figure) {
  std::vector<double> values;
  for (const RankPart& part : parts) {
    if (part.*figure) values.push_back(*(part.*figure));
  }
  if (values.size() != parts.size()) values.clear();
  return values;
}

std::optional<double> largest(const std::vector<RankPart>& parts, Figure figure) {
  const auto values = figures(parts, figure);
  if (values.empty()) return std::nullopt;
  return *std::max_element(values.begin(), values.end());
}

/// The slowest rank over the mean of all.
std::optional<double> imbalance(const std::vector<RankPart>& parts, Figure figure) {
  const auto values = figures(parts, figure);
  double sum = 0;
  for (const double value : values) sum += value;
  if (sum <= 0) return std::nullopt;
  return *std::max_element(values.begin(), values.end()) * static_cast<double>(values.size()) / sum;
}

}  // namespace

Row gang_row(std::span<const Row> ranks) {
  CHECK(!ranks.empty());
  Row row = ranks.front();
  row.rank = 0;
  row.parts.clear();
  for (const Row& rank : ranks) {
    CHECK(rank.parts.size() == 1);
    row.parts.push_back(rank.parts.front());
    RankPart& part = row.parts.back();
    part.rank = rank.rank;
    part.agent = rank.agent;
    part.node = rank.node;
    part.gpu_uuid = rank.gpu_uuid;
    row.wall_s = std::max(row.wall_s, rank.wall_s);
    if (rank.throttled.value_or(false)) {
      row.throttled = true;
      row.throttle_reason = str("rank ", rank.rank, ": ", rank.throttle_reason);
    }
  }
  row.attention_us = largest(row.parts, &RankPart::attention_us);
  row.collective_us = largest(row.parts, &RankPart::collective_us);
  row.overlapped_us = largest(row.parts, &RankPart::overlapped_us);
  row.error_vs_reference = largest(row.parts, &RankPart::error_vs_reference);
  row.imbalance = imbalance(row.parts, &RankPart::attention_us);
  if (row.attention_us && row.time_us) row.exposed_us = *row.time_us - *row.attention_us;
  return row;
}

}  // namespace headsplit::coordinator
